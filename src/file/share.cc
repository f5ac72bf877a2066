#include "file/share.h"

#include "service/directory.h"
#include "wire/date.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

store::Key share_key(const Call& call) {
  return store::Key(service::directory_space(call.target.account), service::kSharesFamily,
                    call.target.container);
}

Task<wire::Result<Share>> load_share(Call& call) {
  auto loaded = co_await service::load<Share>(call, share_key(call));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(Code::kShareNotFound);
  co_return std::move(*loaded->value);
}

Time addressed_snapshot(const Call& call) {
  return wire::parse_iso_date(call.target.snapshot).value_or(Time());
}

Task<wire::Result<service::Loaded<Snapshot>>> load_snapshot(Call& call, const Share& share) {
  auto loaded =
      co_await service::load<Snapshot>(call, snapshot_key(share.space, addressed_snapshot(call)));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(Code::kShareNotFound);
  co_return std::move(*loaded);
}

Task<wire::Result<Tree>> find_tree(Call& call) {
  auto share = co_await load_share(call);
  if (!share) co_return share.error();
  Tree tree{std::move(*share), {}};
  if (!call.target.snapshot.empty()) {
    auto snapshot = co_await load_snapshot(call, tree.share);
    if (!snapshot) co_return snapshot.error();
    tree.shown = snapshot->value->generation;
  }
  co_return std::move(tree);
}

Task<wire::Result<Tree>> find_live_tree(Call& call) {
  if (!call.target.snapshot.empty())
    co_return wire::Error(Code::kShareSnapshotOperationNotSupported);
  co_return co_await find_tree(call);
}

}  // namespace kyanite::file
