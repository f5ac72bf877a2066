// Requests that come again because their answer was lost.
#include <gtest/gtest.h>

#include "drive/lock_sequences.h"
#include "drive/named_creates.h"

namespace kyanite::drive {
namespace {

TEST(LockSequences, KnowWhatIsDone) {
  LockSequences sequences;
  sequences.done(1, 5);
  EXPECT_FALSE(sequences.is_done(1, 5)) << "nothing comes again on a connection that stays";
  sequences.enable();
  EXPECT_FALSE(sequences.is_done(1, 0));
  sequences.begin(1);
  sequences.done(1, 0);
  EXPECT_TRUE(sequences.is_done(1, 0));
  EXPECT_FALSE(sequences.is_done(1, 1));
  EXPECT_FALSE(sequences.is_done(2, 0)) << "each bucket counts by itself";
  // What has begun and failed is not done, nor is what was done before it.
  sequences.begin(1);
  EXPECT_FALSE(sequences.is_done(1, 0));
  // Index 0 and those beyond the last are no buckets.
  for (const uint32_t index : {0u, LockSequences::kBuckets + 1, 0xFFFFFFFu}) {
    sequences.begin(index);
    sequences.done(index, 3);
    EXPECT_FALSE(sequences.is_done(index, 3));
  }
  sequences.done(LockSequences::kBuckets, 15);
  EXPECT_TRUE(sequences.is_done(LockSequences::kBuckets, 15));
}

TEST(NamedCreates, AreKnownWhileServedAndWhileOpen) {
  NamedCreates creates;
  smb::Guid client{};
  smb::Guid request{};
  client.fill('c');
  request.fill('r');
  const NamedCreates::Name name{client, request};
  EXPECT_EQ(creates.begin(name), std::nullopt);
  EXPECT_EQ(creates.begin(name), tree::HandleId{0}) << "it is being served";
  smb::Guid other{};
  EXPECT_EQ(creates.begin({other, request}), std::nullopt) << "names are each client's own";
  creates.end(name, 77);
  EXPECT_EQ(creates.begin(name), tree::HandleId{77});
  creates.end(name, 0);
  EXPECT_EQ(creates.begin(name), std::nullopt);
}

}  // namespace
}  // namespace kyanite::drive
