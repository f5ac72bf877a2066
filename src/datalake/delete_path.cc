// Path - Delete: DELETE /{filesystem}/{path}
//
// A directory goes with everything in it as one step: nothing reaches what lies below any more. It
// is kept for a while where the account says so, else a job removes it.
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/deleted_paths.h"
#include "blob/deletion.h"
#include "datalake/delete_flat.h"
#include "datalake/drafts.h"
#include "datalake/handlers.h"
#include "datalake/tree_removal.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

namespace {

// Without a word on it only an empty directory goes.
Task<wire::Result<void>> take_directory(Call& call, blob::Change& change, const TreeCheck& tree) {
  const auto recursive = decode_flag(call, "recursive");
  if (!recursive) co_return recursive.error();
  if (*recursive) co_return check_taken(call, tree, *change.blob);
  co_return co_await blob::require_empty(call, blob::seen_directory(change));
}

}  // namespace

Task<wire::Result<void>> take_away(Call& call, blob::Change& change,
                                   const account::RetentionPolicy& retention) {
  // Held blobs stay where they are, even where a version would keep their state.
  if (auto allowed = blob::check_deletable(call, *change.blob); !allowed) co_return allowed.error();
  // Where there are directories, snapshots stay or go with their file.
  if (!change.place.is_apart()) {
    auto heads = co_await blob::list_snapshots(call, change.place);
    if (!heads) co_return heads.error();
    auto taken = co_await blob::delete_heads(call, change.place, std::move(*heads), retention,
                                             change.commit);
    if (!taken) co_return taken.error();
  }
  change.blob.reset();
  co_return wire::Result<void>();
}

Outcome delete_path(Call& call) {
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kState;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  const auto container = co_await blob::find_container(call);
  if (!container) co_return container.error();
  const bool hierarchical = (*container)->hierarchical;
  if (!hierarchical) {
    auto base = blob::require_base(call);
    if (!base) co_return base.error();
    auto directory = co_await delete_flat_directory(call, (*container)->space, *checks);
    if (!directory) co_return directory.error();
    if (*directory) co_return std::move(**directory);
  }
  const auto tree = co_await check_tree(call);
  if (!tree) co_return tree.error();
  if (!tree->next.empty()) {
    http::Reply more(202);
    more.header("x-ms-continuation", tree->next);
    co_return more;
  }
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const account::RetentionPolicy retention = (*properties)->delete_retention;
  const bool keeps_version = call.settings().blob_versioning && !hierarchical;
  auto edit = [&](blob::Change& change) -> Task<wire::Result<void>> {
    if (change.place.way() != nullptr && change.place.way()->to_root())
      co_return wire::Error(Code::kInvalidUri);
    if (change.blob->is_directory()) {
      if (auto taken = co_await take_directory(call, change, *tree); !taken)
        co_return taken.error();
    }
    co_return co_await take_away(call, change, retention);
  };
  auto deleted = co_await blob::change_blob(call, *checks, edit);
  if (!deleted) co_return deleted.error();
  http::Reply reply(200);
  blob::encode_deletion(reply, !retention.enabled && !keeps_version, deleted->deleted);
  co_return reply;
}

}  // namespace kyanite::datalake
