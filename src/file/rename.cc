// Rename File: PUT /{share}/{path}?comp=rename with x-ms-file-rename-source; Rename Directory: the
// same with restype=directory
//
// One commit takes the entry from its old place and puts it into the new one. What is below a
// directory hangs on its id and does not move.
#include "auth/authorize.h"
#include "base/bytes.h"
#include "file/create.h"
#include "file/permissions.h"
#include "headers/conditions.h"
#include "service/service.h"
#include "transfer/copy_source.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kSourceHeader = "x-ms-file-rename-source";

struct RenameOrder {
  Kind kind = Kind::kFile;
  Path from;
  Path to;
  bool replace = false;
  bool ignore_read_only = false;
  std::optional<std::string> source_lease;
  std::optional<std::string> destination_lease;
  SmbOrder smb;
  std::optional<headers::Metadata> metadata;
  std::string content_type;    // Empty: as it is. Files only.
  std::string permission_key;  // Empty: as it is.
};

// The URL of the source as a call of its own, which must be allowed what this one does: by its own
// SAS, or by the credentials of this request.
Task<wire::Result<Path>> decode_source(Call& call) {
  const auto text = call.headers().find(kSourceHeader);
  if (!text) co_return wire::missing_header(kSourceHeader);
  if (auto dots = decode_flag(call, kSourceDots); !dots) co_return dots.error();
  const auto url = http::parse_url(*text);
  if (!url) co_return wire::invalid_header(kSourceHeader, *text);
  transfer::SourceCall source_call(call, *url, *call.service);
  Call& source = source_call.call();
  if (auto resolved = transfer::resolve_source(source); !resolved) co_return resolved.error();
  source.operation = call.operation;
  if (source.target.account != call.target.account ||
      source.target.container != call.target.container || source.target.object.empty()) {
    co_return wire::invalid_header(kSourceHeader, *text);
  }
  const bool own_credentials = source.query.has("sig");
  if (!own_credentials && call.caller.is_sas() && call.caller.scope == auth::Scope::kObject)
    co_return wire::Error(Code::kAuthorizationPermissionMismatch);
  if (auto admitted = co_await transfer::admit_source(call, source, !own_credentials); !admitted)
    co_return admitted.error();
  co_return decode_path(source);
}

Task<wire::Result<RenameOrder>> decode_order(Call& call, const Tree& tree, Kind kind) {
  RenameOrder order;
  order.kind = kind;
  auto to = decode_path(call);
  if (!to) co_return to.error();
  order.to = std::move(*to);
  auto from = co_await decode_source(call);
  if (!from) co_return from.error();
  order.from = std::move(*from);
  const std::pair<std::string_view, bool*> flags[] = {
      {"x-ms-file-rename-replace-if-exists", &order.replace},
      {"x-ms-file-rename-ignore-readonly", &order.ignore_read_only}};
  for (const auto& [header, value] : flags) {
    auto flag = decode_flag(call, header);
    if (!flag) co_return flag.error();
    *value = *flag;
  }
  const std::pair<std::string_view, std::optional<std::string>*> leases[] = {
      {"x-ms-source-lease-id", &order.source_lease},
      {"x-ms-destination-lease-id", &order.destination_lease}};
  for (const auto& [header, value] : leases) {
    auto id = headers::decode_guid(call, header);
    if (!id) co_return id.error();
    *value = std::move(*id);
  }
  auto smb = decode_smb_order(call);
  if (!smb) co_return smb.error();
  order.smb = std::move(*smb);
  auto metadata = headers::decode_metadata(call.headers());
  if (!metadata) co_return metadata.error();
  if (!metadata->empty()) order.metadata = std::move(*metadata);
  if (kind == Kind::kFile)
    order.content_type = call.headers().get(headers::kFilePropertyHeaders.content_type);
  auto permission = co_await settle_permission(call, tree.space(), PermissionUse::kSet);
  if (!permission) co_return permission.error();
  order.permission_key = std::move(*permission);
  co_return std::move(order);
}

// Both ends of a rename as they were found.
struct Ends {
  Way from_way;
  Way to_way;
  std::optional<Found> source;
  std::optional<Found> destination;

  bool same_place() const {
    return from_way.parent() == to_way.parent() && from_way.folded == to_way.folded;
  }
};

wire::Result<void> check_ends(const Call& call, const RenameOrder& order, const Ends& ends) {
  if (!ends.source || ends.source->entry->directory != (order.kind == Kind::kDirectory))
    return wire::Error(Code::kResourceNotFound);
  const Entry& source = *ends.source->entry;
  const Rules moves{order.kind, concurrency::FileOperation::kRenameFile,
                    concurrency::LeaseUse::kExclusive, true, true};
  if (auto passed = check_entry(call, moves, order.source_lease, &source); !passed)
    return passed.error();
  // A directory cannot go below itself.
  for (const auto& directory : ends.to_way.directories) {
    if (directory.entry->id == source.id)
      return wire::invalid_header(kSourceHeader, call.headers().get(kSourceHeader));
  }
  if (!ends.destination || ends.same_place()) return {};
  if (!order.replace || ends.destination->entry->directory)
    return wire::Error(Code::kResourceAlreadyExists);
  return check_replaced(call, order.destination_lease, &*ends.destination, order.ignore_read_only);
}

Entry renamed(const Call& call, const RenameOrder& order, const Ends& ends) {
  Entry entry = *ends.source->entry;
  entry.name = ends.to_way.name;
  entry.deleting = false;
  if (order.metadata) entry.metadata = *order.metadata;
  if (!order.content_type.empty()) entry.http.content_type = order.content_type;
  apply_to_existing(call, order.smb, entry);
  if (!order.permission_key.empty()) entry.smb.permission_key = order.permission_key;
  touch(call, entry);
  return entry;
}

Task<wire::Result<Ends>> find_ends(Call& call, const Tree& tree, const RenameOrder& order,
                                   store::Attempt& attempt) {
  Ends ends;
  auto from = co_await follow(call, tree, order.from);
  if (!from) co_return from.error();
  ends.from_way = std::move(*from);
  auto to = co_await follow(call, tree, order.to);
  if (!to) co_return to.error();
  ends.to_way = std::move(*to);
  std::vector<store::Key> keys;
  for (const Way* way : {&ends.from_way, &ends.to_way})
    keys.push_back(entry_key(tree.space(), way->parent(), way->folded));
  if (auto turn = co_await attempt.wait_for(std::move(keys)); !turn)
    co_return service::storage_error(turn.error());
  auto source = co_await find_entry(call, tree, ends.from_way);
  if (!source) co_return source.error();
  ends.source = std::move(*source);
  auto destination = co_await find_entry(call, tree, ends.to_way);
  if (!destination) co_return destination.error();
  ends.destination = std::move(*destination);
  co_return std::move(ends);
}

Task<store::Result<void>> commit_rename(TreeCommit& commit, const Ends& ends, Entry& entry) {
  if (ends.same_place())  // Only the case of the name changes.
    co_return co_await commit.replace(ends.to_way, &*ends.source, &entry);
  // Two directories that are moved into each other at the same time must not both succeed.
  if (entry.directory) {
    commit.guard_whole(ends.to_way);
    commit.guard_whole(ends.from_way);
  }
  commit.enter(ends.to_way);
  auto gone = co_await commit.replace(ends.from_way.parent(), ends.from_way.folded, &*ends.source,
                                      nullptr, &entry);
  if (!gone) co_return gone.error();
  const Found* replaced = ends.destination ? &*ends.destination : nullptr;
  co_return co_await commit.replace(ends.to_way, replaced, &entry);
}

// The source, the destination that is replaced or the directory that is entered: what SMB clients
// must leave alone until the commit is done.
struct Admissions {
  OpenFiles::Admission source;
  OpenFiles::Admission destination;
};
Task<wire::Result<Admissions>> admit(Call& call, const Tree& tree, const Ends& ends) {
  using concurrency::FileOperation;
  Admissions admissions;
  OpenFiles& table = open_files(call);
  const Entry& source = *ends.source->entry;
  const auto key = file_key(tree, source.id);
  if (source.directory) {
    auto moved = co_await table.admit_directory_rename(key);
    if (!moved) co_return moved.error();
    admissions.source = std::move(*moved);
  } else {
    auto moved = co_await table.admit(key, FileOperation::kRenameFile);
    if (!moved) co_return moved.error();
    admissions.source = std::move(*moved);
  }
  const bool replaces = ends.destination && !ends.same_place();
  const auto touched =
      file_key(tree, replaces ? ends.destination->entry->id : ends.to_way.parent());
  auto entered = co_await table.admit(
      touched, replaces ? FileOperation::kDeleteFile : FileOperation::kListFiles);
  if (!entered) co_return entered.error();
  admissions.destination = std::move(*entered);
  co_return std::move(admissions);
}

Outcome rename(Call& call, Kind kind) {
  auto tree = co_await find_live_tree(call);
  if (!tree) co_return tree.error();
  auto order = co_await decode_order(call, *tree, kind);
  if (!order) co_return order.error();
  std::optional<Ends> ends;
  Admissions admissions;  // Until the change is durable.
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Entry>> {
    admissions = {};
    auto found = co_await find_ends(call, *tree, *order, attempt);
    if (!found) co_return found.error();
    ends = std::move(*found);
    if (auto passed = check_ends(call, *order, *ends); !passed) co_return passed.error();
    auto admitted = co_await admit(call, *tree, *ends);
    if (!admitted) co_return admitted.error();
    admissions = std::move(*admitted);
    TreeCommit commit(attempt, tree->space());
    Entry entry = renamed(call, *order, *ends);
    auto done = co_await commit.begin();
    if (done) done = co_await commit_rename(commit, *ends, entry);
    if (!done) co_return service::storage_error(done.error());
    co_return std::move(entry);
  };
  auto entry = co_await store::transact(call, decide);
  if (!entry) co_return entry.error();
  admissions.source.renamed(ends->to_way.ancestors(), ends->to_way.path());
  co_return changed_reply(call, 200, *entry, ends->to_way.parent());
}

}  // namespace

Outcome rename_file(Call& call) { return rename(call, Kind::kFile); }
Outcome rename_directory(Call& call) { return rename(call, Kind::kDirectory); }

}  // namespace kyanite::file
