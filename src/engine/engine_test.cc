#include "engine/engine.h"

#include "engine/sweep.h"
#include "engine/test_location.h"
#include "store/contract.h"

namespace kyanite::store {
namespace {

StoreUnderTest make_engine() {
  auto location = std::make_shared<engine::TestLocation>();
  auto opened = engine::Engine::open(location->options());
  CHECK(opened.ok());
  std::shared_ptr<engine::Engine> engine(std::move(*opened));
  return {std::shared_ptr<Store>(engine.get(), [engine, location](Store*) {}),
          [raw = engine.get()] { EXPECT_TRUE(raw->sweep_now().ok()); }};
}

INSTANTIATE_TEST_SUITE_P(Engine, StoreContract, testing::Values(MakeStore(make_engine)));
// What stops the process is the seam's own check, tested with the reference; here it would leave
// directories behind.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContractDeathTest);

}  // namespace
}  // namespace kyanite::store
