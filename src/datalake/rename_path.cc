// Path - Rename: PUT /{filesystem}/{path} with x-ms-rename-source
//
// One commit takes the head from its old place and puts it into the new one. What is below a
// directory hangs on its id and does not move, so it does not matter how much that is. Conditions
// and leases of both ends are decided in the same step.
#include <algorithm>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/dead_trees.h"
#include "blob/deletion.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"
#include "datalake/properties.h"
#include "datalake/rename_flat.h"
#include "http/url.h"
#include "transfer/copy_source.h"

namespace kyanite::datalake {

using auth::posix::Act;
using blob::Blob;
using blob::Place;
using blob::Way;
using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceHeader = "x-ms-rename-source";
constexpr std::string_view kSourceLease = "x-ms-source-lease-id";

// The source is named from the file system on, without host and account, though some clients name
// the account where it is the beginning of the path.
wire::Result<http::Url> decode_source(const Call& call) {
  const auto text = call.headers().get(kSourceHeader);
  const std::string account = "/" + call.target.account + "/";
  std::string_view path = text;
  if (!path.starts_with('/')) return wire::invalid_header(kSourceHeader, text);
  if (call.endpoint.ends_with(account) && path.starts_with(account))
    path.remove_prefix(account.size() - 1);
  auto url = http::parse_url(call.endpoint + std::string(path.substr(1)));
  if (!url) return wire::invalid_header(kSourceHeader, text);
  return std::move(*url);
}

wire::Result<blob::Checks> decode_source_checks(const Call& call) {
  constexpr headers::ConditionHeaders kConditions{
      "x-ms-source-if-match", "x-ms-source-if-none-match", "x-ms-source-if-modified-since",
      "x-ms-source-if-unmodified-since", ""};
  blob::Rules rules = blob::kChanges;
  rules.takes_directories = true;
  blob::Checks checks{rules, {}, {}, {}, {}, {}};
  if (!call.headers().get(kSourceLease).empty()) {
    auto lease_id = headers::decode_guid(call, kSourceLease);
    if (!lease_id) return lease_id.error();
    checks.lease_id = std::move(*lease_id);
  }
  auto asked = headers::decode_conditions(call, rules.operation, rules.accepts, kConditions);
  if (!asked) return asked.error();
  checks.asked = std::move(*asked);
  checks.asked.unmet = checks.asked.if_match_foreign = Code::kSourceConditionNotMet;
  return checks;
}

// What a directory at the destination means.
enum class RenameMode {
  kPosix,   // The source goes into it, under its own name.
  kLegacy,  // It is in the way, unless it is empty and the source is a directory, or it is the
            // root.
};

wire::Result<RenameMode> decode_rename_mode(const Call& call) {
  constexpr std::string_view kMode = "mode";
  const auto text = call.query.get(kMode);
  if (text.empty() || equals_ignoring_case(text, "posix")) return RenameMode::kPosix;
  if (equals_ignoring_case(text, "legacy")) return RenameMode::kLegacy;
  return wire::invalid_query(kMode, text);
}

struct Order {
  RenameMode mode;
  std::string to;  // The path that was asked for.
  blob::Checks source;
  blob::Checks destination;
  std::optional<headers::Metadata> properties;
  std::string transaction;
};

wire::Result<Order> decode_order(const Call& call) {
  auto mode = decode_rename_mode(call);
  if (!mode) return mode.error();
  auto source = decode_source_checks(call);
  if (!source) return source.error();
  blob::Rules rules = blob::kCreates;
  rules.takes_directories = true;
  rules.keep = blob::Keep::kNothing;
  rules.key = blob::KeyUse::kIgnores;
  auto destination = blob::decode_checks(call, rules);
  if (!destination) return destination.error();
  auto properties = decode_properties(call);
  if (!properties) return properties.error();
  auto transaction = decode_transaction(call);
  if (!transaction) return transaction.error();
  return Order{*mode,
               call.target.object,
               std::move(*source),
               std::move(*destination),
               std::move(*properties),
               std::move(*transaction)};
}

// One end of a rename as it was found.
struct End {
  Place place;
  store::RecordPtr record;
  std::optional<Blob> blob;  // Nothing where nothing is, or nothing that is seen.

  const Way& way() const { return *place.way(); }
};

Task<wire::Result<End>> find_end(Call& call) {
  auto place = co_await blob::find_place(call);
  if (!place) co_return place.error();
  auto head = co_await service::load<Blob>(call, blob::head_key(*place));
  if (!head) co_return head.error();
  End end{std::move(*place), std::move(head->record), std::move(head->value)};
  if (end.blob) end.place.identify(end.blob->node_id);
  if (end.blob && !blob::is_visible(*end.blob, call.now)) end.blob.reset();
  co_return std::move(end);
}

// Where the source shall be.
Task<wire::Result<End>> find_destination(Call& call, const Call& from, const Order& order,
                                         const End& source) {
  call.target.object = order.to;
  auto asked = co_await find_end(call);
  if (!asked || asked->place.way() == nullptr) co_return std::move(asked);
  const bool is_root = asked->way().to_root();
  const bool is_directory = asked->blob && asked->blob->is_directory();
  const bool is_source = asked->blob && source.blob && source.blob->node_id == asked->blob->node_id;
  const bool into = is_root || (order.mode == RenameMode::kPosix && is_directory && !is_source);
  if (!into) co_return std::move(asked);
  std::string_view name = from.target.object;
  while (name.ends_with('/')) name.remove_suffix(1);
  if (!is_root) call.target.object += '/';
  call.target.object.append(name.substr(name.rfind('/') + 1));
  co_return co_await find_end(call);
}

// What is taken from its directory and put into another is deleted there and made here.
wire::Result<void> admit_ends(const Call& call, const Call& from, const End& source,
                              const End& destination) {
  auto taken = blob::admit(from, Act::kDelete, source.way(), &*source.blob);
  if (!taken) return taken.error();
  return blob::admit(call, Act::kCreate, destination.way(),
                     destination.blob ? &*destination.blob : nullptr);
}

// A SAS takes more for the source than for the destination: to move it away (m), or to write and to
// delete it. One that came for the destination reaches the source unless it is for a single path.
wire::Result<void> check_source_caller(const Call& call, const Call& source, bool own_credentials) {
  const auth::Caller& caller = source.caller;
  if (!caller.is_sas()) return {};
  const auto& letters = caller.permissions;
  if (!letters.has('m') && !(letters.has('w') && letters.has('d')))
    return wire::Error(Code::kAuthorizationPermissionMismatch);
  if (own_credentials || caller.scope == auth::Scope::kAccount) return {};
  const bool reaches =
      caller.scope != auth::Scope::kObject && source.target.container == call.target.container;
  if (!reaches) return wire::Error(Code::kAuthorizationFailure);
  return {};
}

bool is_of_one_path(const auth::Caller& caller) {
  return caller.is_sas() && caller.scope == auth::Scope::kObject;
}

// What lies in a directory, be it moved or moved into, is beyond a SAS for one path.
wire::Result<void> check_reach(const Call& call, const Call& from, const Order& order,
                               const End& source) {
  const bool moves_tree = source.blob->is_directory();
  if (moves_tree && is_of_one_path(from.caller)) return wire::Error(Code::kAuthorizationFailure);
  if (!is_of_one_path(call.caller)) return {};
  if (moves_tree || call.target.object != order.to) return wire::Error(Code::kAuthorizationFailure);
  return {};
}

// Nothing may stand below itself.
wire::Result<void> check_nesting(const End& source, const End& destination) {
  const auto& above = destination.way().directories;
  const bool inside = std::any_of(above.begin(), above.end(), [&](const auto& directory) {
    return directory.blob->node_id == source.blob->node_id;
  });
  if (inside) return wire::Error(Code::kInvalidRenameSourcePath);
  return {};
}

// What stands at the destination makes room.
Task<wire::Result<void>> clear_destination(Call& call, const End& source, const End& destination,
                                           store::Commit& commit) {
  if (!destination.blob) {
    // An expired file.
    if (destination.record != nullptr)
      blob::bury_tree(destination.place.space(), destination.place.id(), call.now, commit);
    co_return wire::Result<void>();
  }
  const Blob& gone = *destination.blob;
  if (gone.is_directory() != source.blob->is_directory())
    co_return wire::Error(Code::kInvalidSourceOrDestinationResourceType);
  if (gone.is_directory()) {
    const blob::SeenDirectory found{blob::head_key(destination.place), destination.record,
                                    std::make_shared<const Blob>(gone)};
    auto empty = co_await blob::require_empty(call, found);
    if (!empty && empty.error().code == Code::kDirectoryNotEmpty)
      co_return wire::Error(Code::kPathAlreadyExists);
    co_return std::move(empty);
  }
  auto heads = co_await blob::list_snapshots(call, destination.place);
  if (!heads) co_return heads.error();
  heads->push_back({{}, destination.record, gone});
  // What is overwritten is not kept where there are directories, only what is deleted.
  const account::RetentionPolicy none;
  co_return co_await blob::delete_heads(call, destination.place, std::move(*heads), none, commit);
}

// What is to be, of what was found at both ends.
Task<wire::Result<Blob>> move(Call& call, Call& from, const Order& order, const End& source,
                              const End& destination, store::Commit& commit) {
  if (auto reached = check_reach(call, from, order, source); !reached) co_return reached.error();
  if (auto admitted = admit_ends(call, from, source, destination); !admitted)
    co_return admitted.error();
  if (auto passed = blob::check_blob(from, order.source, source.blob); !passed)
    co_return passed.error();
  // Blocks that wait at the destination are a blob that is replaced, as by all that makes one.
  auto waiting = co_await blob::find_uncommitted(call, destination.place, commit);
  if (!waiting) co_return waiting.error();
  if (destination.blob) waiting->reset();
  auto passed = *waiting ? blob::check_uncommitted(call, order.destination, **waiting)
                         : blob::check_blob(call, order.destination, destination.blob);
  if (!passed) co_return passed.error();
  if (auto apart = check_nesting(source, destination); !apart) co_return apart.error();
  const auto from_key = blob::head_key(source.place);
  const auto to_key = blob::head_key(destination.place);
  if (destination.blob && from_key != to_key && !auth::may_overwrite(call.caller))
    co_return wire::Error(Code::kUnauthorizedBlobOverwrite);
  Blob moved = *source.blob;
  if (order.properties) moved.metadata = *order.properties;
  moved.node->deleting = false;
  moved.node->transaction = order.transaction;
  if (moved.is_directory()) ++moved.node->moves;
  commit.expect(from_key, source.record);
  commit.expect(to_key, destination.record);
  blob::guard(source.way(), false, commit);
  blob::guard(destination.way(), true, commit);
  if (from_key == to_key) {
    if (moved.is_directory()) co_return wire::Error(Code::kInvalidRenameSourcePath);
  } else {
    auto cleared = co_await clear_destination(call, source, destination, commit);
    if (!cleared) co_return cleared.error();
    auto dropped = co_await blob::drop_blocks(call, destination.place, commit);
    if (!dropped) co_return dropped.error();
    commit.remove(from_key);
  }
  // A lease is of a name: that of the source ends, that of the destination goes on.
  moved.lease = destination.blob ? destination.blob->lease
                : *waiting       ? (*waiting)->lease
                                 : headers::StoredLease();
  commit.put(to_key, service::to_record(moved));
  co_return std::move(moved);
}

Task<wire::Result<Blob>> decide(Call& call, Call& from, const Order& order,
                                store::Attempt& attempt) {
  auto source = co_await find_end(from);
  if (!source && source.error().code == Code::kBlobNotFound)
    co_return wire::Error(Code::kSourcePathNotFound);
  if (!source) co_return source.error();
  const bool is_root = source->place.way() != nullptr && source->way().to_root();
  if (!source->blob || is_root) co_return wire::Error(Code::kSourcePathNotFound);
  auto destination = co_await find_destination(call, from, order, *source);
  if (!destination && destination.error().code == Code::kBlobNotFound) {
    wire::Error error(Code::kRenameDestinationParentPathNotFound);
    co_return co_await blob::refused(from, source->place, source->record, std::move(error));
  }
  if (!destination) co_return destination.error();
  if (source->place.way() == nullptr || destination->place.way() == nullptr) {
    // Of containers without directories each is a space of its own.
    if (source->place.space() != destination->place.space()) {
      co_return wire::Error(Code::kNotImplemented)
          .saying("Renaming into another file system needs hierarchical namespace in both.");
    }
    co_return co_await rename_flat(call, order.destination, from, order.source, order.properties,
                                   source->place.space(), attempt.commit);
  }
  auto moved = co_await move(call, from, order, *source, *destination, attempt.commit);
  if (moved) co_return std::move(moved);
  // Neither end may have changed while the other was looked at.
  auto error = co_await blob::refused(from, source->place, source->record, moved.error());
  co_return co_await blob::refused(call, destination->place, destination->record, std::move(error));
}

}  // namespace

Outcome rename_path(Call& call) {
  auto url = decode_source(call);
  if (!url) co_return url.error();
  auto order = decode_order(call);
  if (!order) co_return order.error();
  transfer::SourceCall source_call(call, *url, *call.service);
  Call& source = source_call.call();
  if (auto resolved = transfer::resolve_source(source); !resolved) co_return resolved.error();
  source.operation = call.operation;
  // What is renamed is the path itself, with its snapshots.
  if (auto base = blob::require_base(call); !base) co_return base.error();
  if (auto base = blob::require_base(source); !base) co_return base.error();
  if (source.target.account != call.target.account || source.target.object.empty())
    co_return wire::invalid_header(kSourceHeader, call.headers().get(kSourceHeader));
  const bool own_credentials = source.query.has("sig");
  if (auto allowed = co_await transfer::authorize_source(call, source, !own_credentials); !allowed)
    co_return allowed.error();
  if (auto reached = check_source_caller(call, source, own_credentials); !reached)
    co_return reached.error();
  auto deciding = [&](store::Attempt& attempt) { return decide(call, source, *order, attempt); };
  auto moved = co_await store::transact(call, deciding);
  if (!moved) co_return moved.error();
  http::Reply reply(201);
  blob::encode_changed(reply, moved->changed);
  co_return reply;
}

}  // namespace kyanite::datalake
