#include "datalake/portion.h"

#include <utility>

#include "blob/node_walk.h"
#include "store/fields.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;

namespace {

store::Result<TreeHead> head_at(const blob::NodeWalk& walk) {
  auto record = walk.record();
  if (!record) return record.error();
  auto blob = store::decode<Blob>((*record)->value);
  if (!blob || !blob->node) return store::Error::kCorrupt;
  return TreeHead{walk.key(), std::move(*record), std::move(*blob), walk.path()};
}

store::Result<Portion> collect(const store::View& view, store::SpaceId space, uint64_t directory,
                               std::string_view first, size_t most, Time now) {
  Portion portion;
  blob::NodeWalk walk(view, space, directory, {}, {});
  const auto enter = [&]() -> store::Result<uint64_t> {
    auto head = head_at(walk);
    if (!head) return head.error();
    if (!head->blob.is_directory()) return uint64_t{0};
    const uint64_t id = head->blob.node_id;
    portion.above.push_back(std::move(*head));
    return id;
  };
  if (auto started = blob::start_at(walk, first, enter); !started) return started.error();
  // What is not seen counts as well, or a look had no end among many that have expired.
  for (size_t walked = 0; walk.valid(); ++walked) {
    if (walked == most) {
      portion.next = walk.path();
      break;
    }
    auto head = head_at(walk);
    if (!head) return head.error();
    const bool is_directory = head->blob.is_directory();
    const uint64_t id = head->blob.node_id;
    if (blob::is_visible(head->blob, now)) portion.heads.push_back(std::move(*head));
    if (is_directory) {
      walk.enter(id);
    } else {
      walk.next();
    }
  }
  if (auto status = walk.status(); !status) return status.error();
  return portion;
}

}  // namespace

Task<wire::Result<Portion>> load_portion(Call& call, store::SpaceId space, uint64_t directory,
                                         std::string_view first, size_t most) {
  Portion portion;
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto collected = collect(view, space, directory, first, most, call.now);
    if (!collected) return collected.error();
    portion = std::move(*collected);
    return {};
  };
  auto looked = co_await call.store().look(look);
  if (!looked) co_return service::storage_error(looked.error());
  co_return std::move(portion);
}

}  // namespace kyanite::datalake
