#include "server/connection_limits.h"

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace kyanite::server {
namespace {

TEST(ConnectionLimits, EnoughDescriptors) {
  const ConnectionLimits limits = connection_limits(1'000'000, 1088, 8);
  EXPECT_EQ(limits.connections, 16'384u);
  EXPECT_EQ(limits.admin, 64u);
  EXPECT_EQ(limits.fetches, 256u);
}

TEST(ConnectionLimits, TheEngineKeepsItsShareHoweverFewThereAre) {
  for (const uint64_t descriptors : {20'000, 4'096, 1'024, 512, 256}) {
    for (const int threads : {1, 4}) {
      const uint64_t engine = engine::reserved_descriptors(descriptors);
      const ConnectionLimits limits = connection_limits(descriptors, engine, threads);
      EXPECT_LT(limits.connections + limits.admin + limits.fetches + engine, descriptors);
      EXPECT_GE(limits.connections, 4 * limits.admin) << descriptors;
      EXPECT_GT(limits.admin, 0u) << descriptors;
      EXPECT_GT(limits.fetches, 0u) << descriptors;
    }
  }
}

TEST(ConnectionLimits, OneOfEachEvenWithoutAny) {
  const ConnectionLimits limits = connection_limits(0, 128, 64);
  EXPECT_EQ(limits.connections, 6u);
  EXPECT_EQ(limits.admin, 1u);
  EXPECT_EQ(limits.fetches, 1u);
}

}  // namespace
}  // namespace kyanite::server
