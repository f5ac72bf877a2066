// Arrow streams, read back by hand.
#include <gtest/gtest.h>

#include <cstring>

#include "sql/test_support.h"

namespace kyanite::sql {
namespace {

template <class T>
T read(std::string_view bytes, size_t at) {
  T value{};
  EXPECT_LE(at + sizeof value, bytes.size());
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// A table of a FlatBuffers message.
class Table {
 public:
  Table(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}
  static Table root(std::string_view bytes) { return {bytes, read<uint32_t>(bytes, 0)}; }

  // Where the field is; 0 if it is absent.
  size_t place(size_t id) const {
    const size_t places = at_ - static_cast<size_t>(read<int32_t>(bytes_, at_));
    if (4 + 2 * id >= read<uint16_t>(bytes_, places)) return 0;
    const auto distance = read<uint16_t>(bytes_, places + 4 + 2 * id);
    return distance == 0 ? 0 : at_ + distance;
  }
  template <class T>
  T number(size_t id) const {
    EXPECT_EQ(place(id) % sizeof(T), 0u);
    return place(id) == 0 ? T{} : read<T>(bytes_, place(id));
  }
  size_t target(size_t id) const { return place(id) + read<uint32_t>(bytes_, place(id)); }
  Table table(size_t id) const { return {bytes_, target(id)}; }
  std::string text(size_t id) const {
    return std::string(bytes_.substr(target(id) + 4, read<uint32_t>(bytes_, target(id))));
  }
  size_t size(size_t id) const { return read<uint32_t>(bytes_, target(id)); }
  Table element(size_t id, size_t index) const {
    const size_t at = target(id) + 4 + 4 * index;
    return {bytes_, at + read<uint32_t>(bytes_, at)};
  }
  // Of a vector of two integers each.
  int64_t pair(size_t id, size_t index, size_t half) const {
    return read<int64_t>(bytes_, target(id) + 4 + 16 * index + 8 * half);
  }

 private:
  std::string_view bytes_;
  size_t at_;
};

struct Message {
  std::string metadata;
  std::string body;
};

std::vector<Message> messages(std::string_view stream) {
  std::vector<Message> out;
  while (!stream.empty()) {
    EXPECT_EQ(read<uint32_t>(stream, 0), 0xffffffff);
    const size_t size = read<uint32_t>(stream, 4);
    EXPECT_EQ(size % 8, 0u);
    auto& message = out.emplace_back();
    message.metadata = stream.substr(8, size);
    const auto body = static_cast<size_t>(Table::root(message.metadata).number<int64_t>(3));
    EXPECT_EQ(body % 8, 0u);
    message.body = stream.substr(8 + size, body);
    EXPECT_EQ(message.body.size(), body);
    stream.remove_prefix(8 + size + body);
  }
  return out;
}

std::string_view buffer(const Message& message, size_t index) {
  const auto batch = Table::root(message.metadata).table(2);
  return std::string_view(message.body)
      .substr(static_cast<size_t>(batch.pair(2, index, 0)),
              static_cast<size_t>(batch.pair(2, index, 1)));
}

const ArrowFormat kAll{{{ArrowType::kInt64, "i", 0, 0},
                        {ArrowType::kBool, "b", 0, 0},
                        {ArrowType::kTimestampMs, "t", 0, 0},
                        {ArrowType::kString, "s", 0, 0},
                        {ArrowType::kDouble, "d", 0, 0},
                        {ArrowType::kDecimal, "m", 9, 2}}};

TEST(Arrow, SchemaAndBatches) {
  const auto ran =
      run("SELECT i, b, t, s, d, m FROM BlobStorage",
          R"({"i":-1,"b":true,"t":"1970-01-01T00:00:01.5Z","s":"abc","d":2.5,"m":"-1.005"}
                          {"i":"2","b":false,"t":"1969-12-31T23:59:59.9995Z","s":"","m":7}
                          {"i":"x"})",
          {.input = JsonFormat{}, .output = kAll});
  EXPECT_EQ(ran.errors.size(), 1u);
  const auto stream = messages(ran.data);
  ASSERT_EQ(stream.size(), 3u);

  const auto schema = Table::root(stream[0].metadata);
  EXPECT_EQ(schema.number<int16_t>(0), 4);
  EXPECT_EQ(schema.number<uint8_t>(1), 1);
  ASSERT_EQ(schema.table(2).size(1), 6u);
  const uint8_t kTypes[] = {2, 6, 10, 5, 3, 7};
  for (size_t i = 0; i < 6; ++i) {
    const auto field = schema.table(2).element(1, i);
    EXPECT_EQ(field.text(0), kAll.schema[i].name);
    EXPECT_EQ(field.number<uint8_t>(1), 1);
    EXPECT_EQ(field.number<uint8_t>(2), kTypes[i]);
    EXPECT_EQ(field.size(5), 0u);
  }
  EXPECT_EQ(schema.table(2).element(1, 0).table(3).number<int32_t>(0), 64);
  EXPECT_EQ(schema.table(2).element(1, 2).table(3).number<int16_t>(0), 1);
  EXPECT_EQ(schema.table(2).element(1, 5).table(3).number<int32_t>(0), 9);
  EXPECT_EQ(schema.table(2).element(1, 5).table(3).number<int32_t>(1), 2);

  // A batch without rows, and one with.
  EXPECT_EQ(Table::root(stream[1].metadata).table(2).number<int64_t>(0), 0);
  const auto& rows = stream[2];
  const auto batch = Table::root(rows.metadata).table(2);
  EXPECT_EQ(Table::root(rows.metadata).number<uint8_t>(1), 3);
  EXPECT_EQ(batch.number<int64_t>(0), 2);
  ASSERT_EQ(batch.size(1), 6u);
  EXPECT_EQ(batch.pair(1, 0, 0), 2);
  EXPECT_EQ(batch.pair(1, 0, 1), 0);
  EXPECT_EQ(batch.pair(1, 4, 1), 1);
  EXPECT_EQ(read<int64_t>(buffer(rows, 1), 0), -1);
  EXPECT_EQ(read<int64_t>(buffer(rows, 1), 8), 2);
  EXPECT_EQ(buffer(rows, 3), "\1");
  EXPECT_EQ(read<int64_t>(buffer(rows, 5), 0), 1500);
  EXPECT_EQ(read<int64_t>(buffer(rows, 5), 8), -1);
  EXPECT_EQ(read<int32_t>(buffer(rows, 7), 4), 3);
  EXPECT_EQ(read<int32_t>(buffer(rows, 7), 8), 3);
  EXPECT_EQ(buffer(rows, 8), "abc");
  EXPECT_EQ(buffer(rows, 9), "\1");
  EXPECT_EQ(read<double>(buffer(rows, 10), 0), 2.5);
  EXPECT_EQ(buffer(rows, 10).size(), 16u);
  EXPECT_EQ(read<int64_t>(buffer(rows, 12), 0), -101);
  EXPECT_EQ(read<int64_t>(buffer(rows, 12), 8), -1);
  EXPECT_EQ(read<int64_t>(buffer(rows, 12), 16), 700);
}

TEST(Arrow, ColumnsMustBeThoseOfTheSchema) {
  const auto ran = run("SELECT * FROM BlobStorage", "1,2\n",
                       {.output = ArrowFormat{{{ArrowType::kInt64, "i", 0, 0}}}});
  EXPECT_EQ(ran.errors, std::vector<std::string>{"fatal ClientError at 0"});
  EXPECT_EQ(messages(ran.data).size(), 2u);
}

TEST(Arrow, Decimals) {
  const struct {
    std::string_view text;
    int64_t digits;  // -1: refused
  } kCases[] = {{"1.5", 150},    {"1.25", 125}, {"1.255", 126}, {"-0.005", -1},
                {"99.99", 9999}, {"400", 400},  {"12345", -1},  {"x", -1},
                {"", -1},        {".5", 50},    {"99.999", -1}};
  for (const auto& test : kCases) {
    const auto ran = run("SELECT _1 FROM BlobStorage", std::string(test.text) + "\n",
                         {.output = ArrowFormat{{{ArrowType::kDecimal, "m", 4, 2}}}});
    if (test.text == "-0.005") {
      EXPECT_EQ(read<int64_t>(buffer(messages(ran.data).back(), 1), 0), -1);
    } else if (test.digits < 0) {
      EXPECT_EQ(ran.errors, std::vector<std::string>{"InvalidTypeConversion at 0"}) << test.text;
    } else {
      EXPECT_EQ(read<int64_t>(buffer(messages(ran.data).back(), 1), 0), test.digits) << test.text;
    }
  }
}

TEST(Arrow, MoreThanEightRows) {
  std::string data;
  for (int i = 0; i < 20; ++i) data += i % 3 == 0 ? "{}" : "{\"b\":true}";
  const auto ran =
      run("SELECT b FROM BlobStorage", data,
          {.input = JsonFormat{}, .output = ArrowFormat{{{ArrowType::kBool, "b", 0, 0}}}});
  const auto stream = messages(ran.data);
  const std::string_view bits = "\xb6\x6d\x0b";
  EXPECT_EQ(buffer(stream.back(), 0), bits);
  EXPECT_EQ(buffer(stream.back(), 1), bits);
}

}  // namespace
}  // namespace kyanite::sql
