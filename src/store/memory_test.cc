#include "store/memory.h"

#include "store/checksum.h"
#include "store/contract.h"

namespace kyanite::store {
namespace {

StoreUnderTest make_memory() { return {std::make_shared<MemoryStore>()}; }

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(MakeStore(make_memory)));
INSTANTIATE_TEST_SUITE_P(Memory, StoreContractDeathTest, testing::Values(MakeStore(make_memory)));

TEST(Crc32c, CheckValue) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

}  // namespace
}  // namespace kyanite::store
