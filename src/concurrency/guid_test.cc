#include "concurrency/guid.h"

#include <gtest/gtest.h>

namespace kyanite::concurrency {
namespace {

TEST(Guid, EveryFormReadsAsTheSameText) {
  for (const char* text : {
           "00112233445566778899aabbccddeeff",
           "00112233-4455-6677-8899-aabbccddeeff",
           "00112233-4455-6677-8899-AABBCCDDEEFF",
           "{00112233-4455-6677-8899-aAbBcCdDeEfF}",
           "(00112233-4455-6677-8899-aabbccddeeff)",
           "{0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}",
           "{0X112233,0x4455,0x6677,{0x88,0x99,0xAA,0xbb,0xcc,0xdd,0xee,0xff}}",
       }) {
    EXPECT_EQ(parse_guid(text), "00112233-4455-6677-8899-aabbccddeeff") << text;
  }
}

TEST(Guid, AnythingElseIsRefused) {
  for (const char* text : {
           "",
           "-",
           "{",
           "{}",
           "()",
           "initialtestlease",
           "00112233445566778899aabbccddeef",
           "00112233445566778899aabbccddeeff0",
           "0011223344556677-8899aabbccddeeff",
           "00112233-4455-6677-8899-aabbccddeefg",
           "0x112233445566778899aabbccddeeff",
           "00112233-4455-6677-8899-aabbccddeeff ",
           "{00112233-4455-6677-8899-aabbccddeeff)",
           "{00112233-4455-6677-8899-aabbccddeeff",
           "{00112233445566778899aabbccddeeff}",
           "{0x000112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}",
           "{0x00112233,0x,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}",
           "{0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee}}",
           "{0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}",
           "{0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}}",
       }) {
    EXPECT_FALSE(parse_guid(text)) << text;
  }
}

}  // namespace
}  // namespace kyanite::concurrency
