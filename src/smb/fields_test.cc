#include "smb/fields.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace kyanite::smb {
namespace {

struct Inner {
  uint16_t number = 0;
  bool flag = false;
  template <class Io>
  void fields(Io& io) {
    io(number, flag);
  }
};

// Something of every kind of field.
struct Everything {
  int64_t negative = 0;
  Command command{};
  std::array<char, 3> bytes{};
  std::vector<Inner> inner;
  std::string_view placed;
  std::string text;
  template <class Io>
  void fields(Io& io) {
    Later<uint8_t> count;
    Whereabouts<uint8_t, uint16_t> place;
    Later<uint16_t> text_bytes;
    io(count, place.length, place.offset, negative, command, bytes, text_bytes);
    io.reserved(2);
    io.repeated(count, inner, 3);
    io.text(text_bytes, text);
    io.placed(place, placed);
  }
};

std::string write(const Everything& value) {
  std::string out = "before";
  append_fields(out, value);
  return out.substr(6);
}

TEST(Fields, AreWrittenInOrderAndFilledInLater) {
  Everything value;
  value.negative = -2;
  value.command = Command::kEcho;
  value.bytes = {'x', 'y', 'z'};
  value.inner.push_back({0x1122, true});
  value.inner.push_back({0x3344, false});
  value.placed = "placed";
  value.text = "ab";
  EXPECT_EQ(hex(write(value)),
            "02"
            "0600"
            "1f"
            "feffffffffffffff"
            "0d00"
            "78797a"
            "0400"
            "0000"
            "221101"
            "443300"
            "61006200"
            "706c61636564");
}

TEST(Fields, AreReadUntilOneIsOutsideTheFrame) {
  Everything value;
  value.inner.push_back({7, true});
  value.placed = "placed";
  value.text = "ab";
  const std::string whole = write(value);
  for (size_t size = 0; size <= whole.size(); ++size) {
    Reader reader(std::string_view(whole).substr(0, size));
    Everything found;
    reader(found);
    EXPECT_EQ(reader.ok(), size == whole.size()) << size;
    if (reader.ok()) continue;
    EXPECT_EQ(reader.status(), Status::kInvalidParameter);
    uint64_t more = 5;
    reader(more);
    EXPECT_EQ(more, 0u) << "nothing more is read";
    EXPECT_EQ(found.placed, "");
  }
}

TEST(Fields, ListsHaveALimit) {
  Everything value;
  value.inner.resize(4);
  const std::string bytes = write(value);
  Reader reader(bytes);
  Everything found;
  reader(found);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(found.inner.empty());
}

TEST(Fields, TheFirstFailureCounts) {
  Reader reader("ab");
  reader.fail(Status::kObjectNameInvalid);
  reader.fail(Status::kBadNetworkName);
  EXPECT_EQ(reader.status(), Status::kObjectNameInvalid);
}

TEST(FieldsDeathTest, NumbersThatDoNotFitAreAMistakeOfTheServer) {
  Everything value;
  value.text = std::string(40'000, 'x');
  EXPECT_DEATH(write(value), "numeric_limits");
}

}  // namespace
}  // namespace kyanite::smb
