#include "engine/codec.h"

#include <gtest/gtest.h>

namespace kyanite::engine {
namespace {

const std::vector<std::vector<store::Ref>> kRefs = {
    {},
    {{1, 4096, 1, 0}},
    {{UINT64_MAX, UINT64_MAX / 4096 * 4096, store::kMaxRunBytes, UINT32_MAX}, {2, 0, 77, 5}},
};

TEST(Codec, RecordsComeBack) {
  for (const auto& refs : kRefs) {
    for (const std::string& value : {std::string("v"), std::string("\0\1\2", 3)}) {
      auto record = decode_record(encode_head(refs) + value);
      ASSERT_TRUE(record.has_value());
      EXPECT_EQ(record->value, value);
      EXPECT_EQ(record->refs, refs);
      EXPECT_EQ(decode_refs(encode_head(refs) + value), refs);
      const std::string whole = encode_head(refs) + value;
      EXPECT_EQ(decode_value(whole), value);
    }
  }
}

TEST(Codec, WhatIsCutShortIsNoRecord) {
  const std::string head = encode_head(kRefs[2]);
  for (size_t length = 0; length <= head.size(); ++length) {
    EXPECT_FALSE(decode_record(std::string_view(head).substr(0, length)).has_value()) << length;
    EXPECT_FALSE(decode_value(std::string_view(head).substr(0, length)).has_value()) << length;
  }
}

TEST(Codec, RefusesOtherVersionsAndImpossibleNumbers) {
  EXPECT_FALSE(decode_record("\2\0v").has_value());
  EXPECT_FALSE(decode_record(std::string("\1\xff\xff\xff\xff\x0f", 6) + "v").has_value());
  std::string too_long = encode_head({{1, 0, store::kMaxRunBytes + 1, 0}});
  EXPECT_FALSE(decode_record(too_long + "v").has_value());
}

}  // namespace
}  // namespace kyanite::engine
