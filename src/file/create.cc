#include "file/create.h"

#include <utility>

#include "auth/authorize.h"
#include "file/refusals.h"
#include "headers/conditions.h"

namespace kyanite::file {

using service::Call;

wire::Result<CreationOrder> decode_creation(const Call& call) {
  CreationOrder order;
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) return metadata.error();
  order.metadata = std::move(*metadata);
  auto smb = decode_smb_order(call);
  if (!smb) return smb.error();
  order.smb = std::move(*smb);
  return order;
}

void apply_creation(const Call& call, const CreationOrder& order, Entry& entry) {
  entry.metadata = order.metadata;
  apply_to_new(call, order.smb, entry);
}

wire::Result<tree::Creation> decode_replacement(const Call& call) {
  auto lease_id = headers::decode_lease_id(call);
  if (!lease_id) return lease_id.error();
  tree::Creation creation;
  creation.replaces = true;
  creation.may_replace = auth::may_overwrite(call.caller);
  creation.lease_id = std::move(*lease_id);
  return creation;
}

Task<wire::Result<Changed>> create_entry(Call& call, const Tree& tree, const Path& path,
                                         const tree::Creation& creation, const Fill& fill) {
  OwnRefusal own;
  const tree::Fill decide = [&](Entry& entry, const Way& way,
                                store::Commit& commit) -> Task<tree::Result<void>> {
    auto filled = co_await fill(entry, way, commit);
    if (!filled) co_return own.note(std::move(filled.error()));
    co_return tree::Result<void>();
  };
  auto created = co_await tree::create_entry(call, tree, path, creation, decide);
  if (!created) co_return own.tell(created.error());
  co_return std::move(*created);
}

}  // namespace kyanite::file
