// Path - Delete: DELETE /{filesystem}/{path}
//
// A directory goes with everything in it as one step: nothing reaches what lies below any more. It
// is kept for a while where the account says so, else a job removes it.
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/deleted_paths.h"
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
  if (*recursive) {
    // Another one came to its place meanwhile.
    if (blob::asks_paths(call) && change.blob->node_id != tree.directory)
      co_return blob::not_admitted();
    co_return wire::Result<void>();
  }
  co_return co_await blob::require_empty(call, blob::seen_directory(change));
}

}  // namespace

Outcome delete_path(Call& call) {
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kState;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  const auto tree = co_await check_tree(call);
  if (!tree) co_return tree.error();
  if (!tree->next.empty()) {
    http::Reply more(202);
    more.header("x-ms-continuation", tree->next);
    co_return more;
  }
  auto edit = [&](blob::Change& change) -> Task<wire::Result<void>> {
    if (change.place.way() != nullptr && change.place.way()->to_root())
      co_return wire::Error(Code::kInvalidUri);
    if (change.blob->is_directory()) {
      if (auto taken = co_await take_directory(call, change, *tree); !taken)
        co_return taken.error();
    }
    if (change.place.way() == nullptr) {
      auto formers = co_await blob::take_formers(call, change);
      if (!formers) co_return formers.error();
    }
    change.blob.reset();
    co_return wire::Result<void>();
  };
  auto deleted = co_await blob::change_blob(call, *checks, edit);
  if (!deleted) co_return deleted.error();
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  http::Reply reply(200);
  blob::encode_deletion(reply, !(*properties)->delete_retention.enabled, deleted->deleted);
  co_return reply;
}

}  // namespace kyanite::datalake
