#include "blob/container.h"

#include "lifetime/directory.h"

namespace kyanite::blob {

using service::Call;

store::Key container_key(const Call& call) {
  return store::Key(lifetime::directory_space(call.target.account), lifetime::kContainersFamily,
                    call.target.container);
}

Task<wire::Result<std::shared_ptr<const Container>>> find_container(Call& call) {
  const auto key = container_key(call);
  auto loaded = co_await service::load_shared<Container>(call, key);
  if (!loaded) co_return loaded.error();
  if (loaded->value == nullptr) co_return wire::Error(wire::Code::kContainerNotFound);
  co_return std::move(loaded->value);
}

Task<wire::Result<Container>> load_container(Call& call) {
  auto loaded = co_await service::load<Container>(call, container_key(call));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(wire::Code::kContainerNotFound);
  co_return std::move(*loaded->value);
}

Task<wire::Result<Container>> read_container(Call& call) {
  if (auto none = headers::refuse_conditions(call); !none) co_return none.error();
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) co_return lease_id.error();
  auto container = co_await load_container(call);
  if (!container) co_return container.error();
  auto use = concurrency::check_lease_use(container->lease, *lease_id,
                                          concurrency::LeaseUse::kShared, call.now);
  if (!use) co_return headers::lease_use_error(use.error(), headers::Leased::kContainer);
  co_return std::move(*container);
}

}  // namespace kyanite::blob
