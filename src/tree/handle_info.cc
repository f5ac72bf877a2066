#include "tree/handle_info.h"

#include <utility>

#include "tree/access_check.h"
#include "tree/drafts.h"
#include "tree/permissions.h"

namespace kyanite::tree {

namespace {

void apply_time(const TimeOrder& order, Time& time, bool& frozen) {
  if (order.kind == TimeOrder::kSet) time = order.time;
  if (order.kind == TimeOrder::kSet || order.kind == TimeOrder::kFreeze) frozen = true;
  if (order.kind == TimeOrder::kThaw) frozen = false;
}

bool sets_something(const BasicOrder& order) {
  for (const TimeOrder* time : {&order.created, &order.accessed, &order.written, &order.changed}) {
    if (time->kind == TimeOrder::kSet) return true;
  }
  return order.attributes.has_value();
}

}  // namespace

Task<Result<void>> set_basic(store::Occasion& occasion, Opened& opened, const BasicOrder& order) {
  if (!sets_something(order)) {
    Time unused;
    apply_time(order.created, unused, opened.frozen.created);
    apply_time(order.accessed, unused, opened.frozen.accessed);
    apply_time(order.written, unused, opened.frozen.written);
    apply_time(order.changed, unused, opened.frozen.changed);
    // Whoever sets something, if only nothing, is told what there is.
    if (opened.handle == 0) co_return Result<void>();
    co_return co_await opened.tree.open_files->drafts().settle(opened.file);
  }
  Opened::Frozen frozen;
  const OpenedEdit edit = [&](Entry& entry, store::Commit&) -> Task<Result<void>> {
    frozen = opened.frozen;
    SmbProperties& smb = entry.smb;
    if (!frozen.changed) smb.changed = occasion.now;
    apply_time(order.created, smb.created, frozen.created);
    apply_time(order.accessed, smb.accessed, frozen.accessed);
    apply_time(order.written, smb.written, frozen.written);
    apply_time(order.changed, smb.changed, frozen.changed);
    if (order.attributes) smb.attributes = *order.attributes & ~kDirectoryAttribute;
    co_return Result<void>();
  };
  auto changed = co_await change_opened(occasion, opened, edit);
  if (!changed) co_return changed.error();
  opened.frozen = frozen;
  co_return Result<void>();
}

Task<Result<SecurityDescriptor>> descriptor_of(store::Occasion& occasion, const Tree& tree,
                                               const Entry& entry) {
  const std::string& key =
      entry.smb.permission_key.empty() ? default_permission_key() : entry.smb.permission_key;
  auto sddl = co_await find_permission(occasion, tree.space, key);
  if (!sddl) co_return sddl.error();
  auto descriptor = parse_sddl(*sddl);
  if (!descriptor) co_return Error(store::Error::kCorrupt);
  co_return std::move(*descriptor);
}

Task<Result<std::string>> new_permission(store::Occasion& occasion, const Tree& tree,
                                         const Entry& parent, bool directory,
                                         std::optional<std::string_view> binary) {
  const bool by_default = has_default_permission(parent);
  if (by_default && !binary) co_return std::string();
  auto descriptor = co_await descriptor_of(occasion, tree, parent);
  if (!descriptor) co_return descriptor.error();
  if (!by_default) *descriptor = inherit(*descriptor, account_identity(), directory);
  if (binary && !replace_parts(*descriptor, *binary, parts_in(*binary)))
    co_return Error(Reason::kBadPermission);
  map_generic_rights(descriptor->dacl);
  co_return co_await add_permission(occasion, tree.space, write_sddl(*descriptor));
}

namespace {
// Replaces the parts once. False when somebody else has set another descriptor meanwhile, which
// would be undone.
Task<Result<bool>> try_set_descriptor(store::Occasion& occasion, Opened& opened,
                                      std::string_view binary, DescriptorParts parts) {
  auto state = co_await state_of(occasion, opened);
  if (!state) co_return state.error();
  const std::string before = state->smb.permission_key;
  auto descriptor = co_await descriptor_of(occasion, opened.tree, *state);
  if (!descriptor) co_return descriptor.error();
  if (!replace_parts(*descriptor, binary, parts)) co_return Error(Reason::kBadPermission);
  map_generic_rights(descriptor->dacl);
  // The permission is noted before the entry that refers to it.
  auto key = co_await add_permission(occasion, opened.tree.space, write_sddl(*descriptor));
  if (!key) co_return key.error();
  bool same = true;
  const OpenedEdit edit = [&](Entry& entry, store::Commit&) -> Task<Result<void>> {
    same = entry.smb.permission_key == before;
    if (!same) co_return Error(Reason::kOwn);
    entry.smb.permission_key = *key;
    if (!opened.frozen.changed) entry.smb.changed = occasion.now;
    co_return Result<void>();
  };
  auto changed = co_await change_opened(occasion, opened, edit);
  if (!same) co_return false;
  if (!changed) co_return changed.error();
  co_return true;
}
}  // namespace

Task<Result<void>> set_descriptor(store::Occasion& occasion, Opened& opened,
                                  std::string_view binary, DescriptorParts parts) {
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    auto done = co_await try_set_descriptor(occasion, opened, binary, parts);
    if (!done) co_return done.error();
    if (*done) co_return Result<void>();
  }
  co_return Error(store::Error::kBusy);
}

}  // namespace kyanite::tree
