#include "datalake/delete_flat.h"

#include <span>
#include <utility>

#include "blob/deleted_paths.h"
#include "blob/deletion.h"
#include "datalake/access.h"
#include "datalake/drafts.h"
#include "datalake/flat_move.h"
#include "datalake/flat_tree.h"
#include "datalake/tree_token.h"

namespace kyanite::datalake {

using blob::Change;
using blob::Checks;
using blob::Place;
using service::Call;
using wire::Code;

namespace {

class FlatRemoval {
 public:
  FlatRemoval(Call& call, store::SpaceId space, const Checks& checks, FlatPath directory,
              const account::RetentionPolicy& retention)
      : call_(call),
        space_(space),
        checks_(checks),
        directory_(std::move(directory)),
        retention_(retention) {}

  static std::string bound(const Call& call, const FlatPath& directory) {
    std::string bound = "kyanite flat removal 1\n";
    append_bound(bound, call.target.container);
    append_bound(bound, directory.name);
    return bound;
  }

  // Whether it may begin.
  Task<wire::Result<void>> check(bool recursive) {
    if (auto passed = blob::check_blob(call_, checks_, directory_.blob); !passed)
      co_return passed.error();
    if (auto allowed = blob::check_deletable(call_, *directory_.blob); !allowed)
      co_return allowed.error();
    if (recursive) co_return co_await check_below();
    auto empty = co_await is_flat_empty(call_, space_, directory_.below());
    if (!empty) co_return empty.error();
    if (!*empty) co_return wire::Error(Code::kDirectoryNotEmpty);
    co_return wire::Result<void>();
  }

  // What lies below, from the name `at` on. Where the next request goes on; "" at the end.
  Task<wire::Result<std::string>> remove_below(std::string at) {
    FlatPage page(call_);
    do {
      auto portion = co_await load_flat_portion(call_, space_, directory_.below(), at);
      if (!portion) co_return portion.error();
      auto removed = co_await remove_portion(*portion, page);
      const bool timed_out = !removed && removed.error().code == Code::kOperationTimedOut;
      if (timed_out && page.has_done()) co_return at;
      if (!removed) co_return removed.error();
      at = std::move(portion->next);
    } while (!at.empty() && !page.is_over());
    co_return at;
  }

  // The directory's own blob, where it has one.
  Task<wire::Result<void>> remove_mark(const Checks& checks) {
    auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<void>> {
      Change change(Place(space_, directory_.name), attempt.commit);
      auto begun = co_await blob::begin_change(call_, checks, change);
      if (!begun && begun.error().code == Code::kBlobNotFound) co_return wire::Result<void>();
      if (!begun) co_return begun.error();
      // Another came to its place.
      if (!blob::is_folder(*change.blob)) co_return wire::Result<void>();
      co_return co_await remove(checks, change);
    };
    co_return co_await store::transact(call_, decide);
  }

 private:
  Task<wire::Result<void>> check_below() {
    const Checks below = unconditional(checks_.rules);
    const MayTake may = [&](const FlatHead& head) -> wire::Result<void> {
      if (auto passed = blob::check_blob(call_, below, head.blob); !passed) return passed.error();
      return blob::check_deletable(call_, head.blob);
    };
    co_return co_await check_first_page(call_, space_, directory_.below(), may);
  }

  Task<wire::Result<void>> remove(const Checks& checks, Change& change) {
    if (auto taken = co_await take_away(call_, change, retention_); !taken) co_return taken.error();
    co_return co_await blob::finish_change(call_, checks, change);
  }

  Task<wire::Result<void>> remove_portion(const FlatPortion& portion, FlatPage& page) {
    for (std::span<const FlatHead> rest(portion.heads); !rest.empty();) {
      auto decide = [&](store::Attempt& attempt) { return remove_some(rest, attempt); };
      auto removed = co_await store::transact(call_, decide);
      if (!removed) co_return removed.error();
      page.count(*removed);
      rest = rest.subspan(*removed);
    }
    co_return wire::Result<void>();
  }
  // As many as one commit should. How many were looked at.
  Task<wire::Result<size_t>> remove_some(std::span<const FlatHead> heads, store::Attempt& attempt) {
    const Checks below = unconditional(checks_.rules);
    std::vector<store::Key> keys;
    for (const FlatHead& head : heads) keys.emplace_back(space_, blob::kHeads, head.name);
    if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
      co_return service::storage_error(turn.error());
    size_t taken = 0;
    for (const FlatHead& head : heads) {
      if (is_enough(attempt.commit)) break;
      ++taken;
      Change change(Place(space_, head.name), attempt.commit);
      auto begun = co_await blob::begin_change(call_, below, change);
      if (!begun && begun.error().code == Code::kBlobNotFound) continue;
      if (!begun) co_return begun.error();
      if (auto removed = co_await remove(below, change); !removed) co_return removed.error();
    }
    co_return taken;
  }

  Call& call_;
  const store::SpaceId space_;
  const Checks& checks_;
  const FlatPath directory_;
  const account::RetentionPolicy& retention_;
};

}  // namespace

Task<wire::Result<std::optional<http::Reply>>> delete_flat_directory(Call& call,
                                                                     store::SpaceId space,
                                                                     const Checks& checks) {
  const auto recursive = decode_flag(call, "recursive");
  if (!recursive) co_return recursive.error();
  auto found = co_await find_flat_path(call, space, call.target.object);
  if (!found) co_return found.error();
  const std::string bound = FlatRemoval::bound(call, *found);
  auto token = read_token(call, bound);
  // Of a directory that is only implied nothing may be left when it is asked for again, or a file.
  const bool goes_on = token && token->has_value();
  if (found->kind == FlatPath::Kind::kFile && !goes_on) co_return std::optional<http::Reply>();
  if (!token) co_return token.error();
  if (!found->is_directory() && !goes_on) co_return std::optional<http::Reply>();
  if (*recursive && is_of_one_path(call.caller)) co_return wire::Error(Code::kAuthorizationFailure);
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const account::RetentionPolicy retention = (*properties)->delete_retention;
  FlatRemoval removal(call, space, checks, std::move(*found), retention);
  if (!goes_on) {
    if (auto may = co_await removal.check(*recursive); !may) co_return may.error();
  }
  http::Reply reply(200);
  blob::encode_deletion(reply, !retention.enabled && !call.settings().blob_versioning, {});
  if (*recursive) {
    auto next = co_await removal.remove_below(token->value_or(""));
    if (!next) co_return next.error();
    if (!next->empty()) {
      reply.header("x-ms-continuation", write_token(call, bound, *next));
      co_return std::move(reply);
    }
  }
  Checks last = checks;
  if (goes_on) last.asked = unconditional(checks.rules).asked;
  if (auto removed = co_await removal.remove_mark(last); !removed) co_return removed.error();
  co_return std::move(reply);
}

}  // namespace kyanite::datalake
