#include "blob/records.h"

#include <gtest/gtest.h>

#include "store/fields.h"

namespace kyanite::blob {
namespace {

// Gives every field of a record a value that is not its default.
struct Filler {
  template <class T>
  void operator()(uint32_t tag, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(tag);
    } else if constexpr (std::is_same_v<T, Time>) {
      value = {tag};
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      value = static_cast<T>(1);
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(tag);
    } else if constexpr (requires { value.has_value(); }) {
      (*this)(tag, value.emplace());
    } else if constexpr (requires { value.front().first; }) {
      value.emplace_back("name", "value");
    } else if constexpr (requires { value.emplace_back(); }) {
      (*this)(tag, value.emplace_back());
    } else {
      value.fields(*this);
    }
  }
};

// Listings read one blob over another, which demands that all defaults are zero or empty.
TEST(BlobRecord, NothingIsLeftOfTheOneReadBefore) {
  Blob full;
  Filler filler;
  full.fields(filler);
  Blob other;
  other.changed = {1};
  other.http.content_type = "text/plain";
  Blob value;
  for (const Blob& next : {full, other, full, Blob()}) {
    const std::string bytes = store::encode(next);
    auto reader = store::read_again(bytes);
    ASSERT_TRUE(reader);
    value.fields(*reader);
    EXPECT_TRUE(reader->ok());
    EXPECT_EQ(store::encode(value), store::encode(next));
  }
}

}  // namespace
}  // namespace kyanite::blob
