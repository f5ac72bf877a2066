#include "tree/open.h"

#include <utility>
#include <vector>

#include "store/transact.h"
#include "tree/announce.h"
#include "tree/change.h"
#include "tree/delete.h"
#include "tree/drafts.h"
#include "tree/handle_info.h"
#include "tree/rename.h"

namespace kyanite::tree {

using concurrency::AccessSet;

namespace {

constexpr Attributes kHidden = 0x2;
constexpr Attributes kSystem = 0x4;

bool empties(Disposition disposition) {
  return disposition == Disposition::kSupersede || disposition == Disposition::kOverwrite ||
         disposition == Disposition::kOverwriteIf;
}
bool makes(Disposition disposition) {
  return disposition != Disposition::kOpen && disposition != Disposition::kOverwrite;
}

// What handles that led nowhere leave to do.
using Left = std::optional<OpenFiles::Closed>;

// Closes a handle that leads nowhere unless it is kept.
class Attempted {
 public:
  Attempted(OpenFiles& table, HandleId handle, Left& left)
      : table_(table), handle_(handle), left_(left) {}
  ~Attempted() {
    if (handle_ == 0) return;
    auto closed = table_.withdraw(handle_);
    if (closed && closed->removal) left_ = std::move(*closed);
  }
  Attempted(const Attempted&) = delete;
  Attempted& operator=(const Attempted&) = delete;
  void keep() { table_.decide(std::exchange(handle_, 0)); }

 private:
  OpenFiles& table_;
  HandleId handle_;
  Left& left_;
};

FileOpen file_open(const Opening& order, const Tree& tree, const Way& way, EntryId id,
                   bool directory, const std::string& path, AccessSet access, Time now) {
  FileOpen open;
  open.file = tree.key(id);
  open.mode = {access, order.share};
  open.ancestors = way.ancestors();
  open.path = path;
  open.session = order.session;
  open.client = order.client;
  open.opened = now;
  open.delete_on_close = order.delete_on_close;
  open.undecided = true;
  open.reach = order.reach;
  open.replaces = empties(order.disposition);
  open.caching = order.caching;
  // Directories are not cached; the key is one of theirs all the same.
  if (directory) open.caching.caching = {};
  open.ticket = order.ticket;
  if (order.may_wait) open.may_wait = [&order, file = open.file] { return order.may_wait(file); };
  if (order.disposition == Disposition::kSupersede) {
    open.besides = concurrency::kWriteAccess | concurrency::kDeleteAccess;
  } else if (empties(order.disposition)) {
    open.besides = concurrency::kWriteAccess;
  }
  return open;
}

Opened opened_at(const Tree& tree, const Way& way, const Entry& entry, const std::string& path,
                 HandleId handle, AccessSet access) {
  Opened opened;
  opened.tree = tree;
  opened.file = tree.key(entry.id);
  opened.handle = handle;
  opened.directory = entry.directory;
  opened.access = access;
  opened.parent = way.parent();
  opened.folded = way.folded;
  opened.path = path;
  return opened;
}

// The path with the names as they are stored.
std::string stored_path(const Way& way, const Entry& entry) {
  if (way.to_root()) return {};
  Way stored = way;
  stored.name = entry.name;
  return stored.path();
}

Task<Result<AccessSet>> grant(store::Occasion& occasion, const Tree& tree, const Opening& order,
                              const Way& way, const Entry* entry) {
  auto parent = co_await parent_of(occasion, tree, way);
  if (!parent) co_return parent.error();
  co_return co_await order.grant(entry, **parent);
}

// One try at opening; nothing when what was found has changed meanwhile.
using Try = Task<Result<std::optional<OpenResult>>>;

// What a new file has besides its name and id.
void fill_new(const Opening& order, const std::string& permission_key, Time now, Entry& entry) {
  entry.smb.attributes = order.attributes | (entry.directory ? 0 : kArchiveAttribute);
  entry.smb.created = entry.smb.written = entry.smb.changed = now;
  entry.smb.permission_key = permission_key;
  entry.content.sparse = !entry.directory;
}

// The handle is there before the file: whoever finds the file finds it open.
Try make(store::Occasion& occasion, const Tree& tree, const Opening& order, const Way& way,
         Left& left) {
  auto access = co_await grant(occasion, tree, order, way, nullptr);
  if (!access) co_return access.error();
  if (order.delete_on_close && (order.attributes & kReadOnlyAttribute) != 0)
    co_return Error(Reason::kReadOnly);
  auto parent = co_await parent_of(occasion, tree, way);
  if (!parent) co_return parent.error();
  auto permission = co_await new_permission(occasion, tree, **parent,
                                            order.kind == Kind::kDirectory, order.descriptor);
  if (!permission) co_return permission.error();
  Creation creation;
  creation.directory = order.kind == Kind::kDirectory;
  creation.id = new_id();
  OpenFiles& table = *tree.open_files;
  FileOpen asked = file_open(order, tree, way, creation.id, creation.directory, way.path(), *access,
                             occasion.now);
  asked.besides = {};
  const auto ancestors = asked.ancestors;
  auto handle = co_await table.open(std::move(asked));
  if (!handle) co_return Error(handle.error());
  Attempted attempted(table, *handle, left);
  const Fill fill = [&](Entry& entry, const Way& now, store::Commit&) -> Task<Result<void>> {
    // A directory above was moved before the handle could keep it from that.
    if (now.ancestors() != ancestors) co_return Error(Reason::kOwn);
    fill_new(order, *permission, occasion.now, entry);
    co_return Result<void>();
  };
  auto created = co_await create_entry(occasion, tree, order.path, creation, fill);
  if (!created) {
    const bool again =
        created.error() == Error(Reason::kOwn) ||
        (created.error() == Error(Reason::kExists) && order.disposition != Disposition::kCreate);
    if (again) co_return std::optional<OpenResult>();
    co_return created.error();
  }
  attempted.keep();
  co_await table.drafts().note_entry(occasion, tree, ancestors, way.path());
  Opened opened = opened_at(tree, way, *created->entry, way.path(), *handle, *access);
  co_return std::optional<OpenResult>(
      OpenResult{std::move(opened), OpenAction::kCreated, std::move(*created->entry)});
}

Result<void> check_found(const Opening& order, const Entry& entry) {
  if (order.disposition == Disposition::kCreate) return Error(Reason::kExists);
  if (order.kind == Kind::kDirectory && !entry.directory) return Error(Reason::kNotDirectory);
  if (order.kind == Kind::kFile && entry.directory) return Error(Reason::kIsDirectory);
  if (entry.directory && empties(order.disposition)) return Error(Reason::kIsDirectory);
  return {};
}

// Attributes that keep a file from being emptied or deleted, and what else does.
Result<void> check_attributes(const Opening& order, const Entry& entry, AccessSet access,
                              Time now) {
  const bool read_only = (entry.smb.attributes & kReadOnlyAttribute) != 0;
  if (empties(order.disposition)) {
    if (read_only) return Error(Refusal::kAccessDenied);
    const Attributes kept = entry.smb.attributes & (kHidden | kSystem);
    if ((kept & ~order.attributes) != 0) return Error(Refusal::kAccessDenied);
  }
  if (order.delete_on_close && (read_only || entry.id == kRootId)) return Error(Reason::kReadOnly);
  const bool copied = entry.copy.status == object::CopyStatus::kPending;
  if (copied &&
      (empties(order.disposition) || !concurrency::may_open_while_copied({access, order.share})))
    return Error(Refusal::kSharingViolation);
  const bool leased = concurrency::is_locked(concurrency::lease_state(entry.lease, now));
  if (leased && (!concurrency::may_open_leased_file(access) || empties(order.disposition)))
    return Error(Refusal::kSharingViolation);
  return {};
}

Task<Result<Entry>> empty_file(store::Occasion& occasion, Opened& opened, const Opening& order) {
  const OpenedEdit edit = [&](Entry& file, store::Commit&) -> Task<Result<void>> {
    // It may have been leased since.
    if (auto passed = check_attributes(order, file, opened.access, occasion.now); !passed)
      co_return passed.error();
    file.content = {};
    file.content.sparse = true;
    file.cleared.clear();
    file.http.content_md5.clear();
    file.smb.attributes = order.attributes | kArchiveAttribute;
    file.smb.written = file.smb.changed = occasion.now;
    if (order.disposition == Disposition::kSupersede) file.smb.created = occasion.now;
    co_return Result<void>();
  };
  co_return co_await change_opened(occasion, opened, edit);
}

OpenAction action_of(Disposition disposition) {
  if (disposition == Disposition::kSupersede) return OpenAction::kSuperseded;
  return empties(disposition) ? OpenAction::kOverwritten : OpenAction::kOpened;
}

// Who is refused because of an entry is refused if the path still leads to it.
Try refuse(store::Occasion& occasion, const Tree& tree, const Opening& order, EntryId id,
           Error why) {
  auto way = co_await follow(occasion, tree, order.path);
  if (!way) co_return std::optional<OpenResult>();
  auto found = co_await find_entry(occasion, tree, *way);
  if (!found) co_return found.error();
  if (!*found || (*found)->entry->id != id) co_return std::optional<OpenResult>();
  co_return why;
}

Try open_found(store::Occasion& occasion, const Tree& tree, const Opening& order, const Way& way,
               const SeenEntry& found, Left& left) {
  const Entry& entry = *found.entry;
  OpenFiles& table = *tree.open_files;
  const FileKey key = tree.key(entry.id);
  // It was deleted, and nobody has it open any more: who comes now comes after that. While it is
  // marked nothing else is admitted, so it is waited for once.
  if (table.is_delete_pending(key) && table.is_being_removed(key)) {
    co_await table.wait_for_removal(key);
    co_return std::optional<OpenResult>();
  }
  if (auto passed = check_found(order, entry); !passed) co_return passed.error();
  if (table.is_delete_pending(key))
    co_return co_await refuse(occasion, tree, order, entry.id, Refusal::kDeletePending);
  auto access = co_await grant(occasion, tree, order, way, &entry);
  if (!access) co_return access.error();
  if (auto passed = check_attributes(order, entry, *access, occasion.now); !passed)
    co_return passed.error();
  const std::string path = stored_path(way, entry);
  auto handle = co_await table.open(
      file_open(order, tree, way, entry.id, entry.directory, path, *access, occasion.now));
  if (!handle) co_return co_await refuse(occasion, tree, order, entry.id, handle.error());
  Attempted attempted(table, *handle, left);
  // From now on nothing on the way can move. What did so before leads elsewhere.
  auto way_now = co_await follow(occasion, tree, order.path);
  if (!way_now) co_return std::optional<OpenResult>();
  auto found_now = co_await find_entry(occasion, tree, *way_now);
  if (!found_now) co_return found_now.error();
  if (!*found_now || (*found_now)->entry->id != entry.id ||
      way_now->ancestors() != way.ancestors() ||
      stored_path(*way_now, *(*found_now)->entry) != path)
    co_return std::optional<OpenResult>();
  if (auto passed = check_attributes(order, *(*found_now)->entry, *access, occasion.now); !passed)
    co_return passed.error();
  OpenResult result{
      opened_at(tree, way, entry, path, *handle, *access), action_of(order.disposition), {}};
  auto state = empties(order.disposition) ? empty_file(occasion, result.opened, order)
                                          : state_of(occasion, result.opened);
  auto entry_now = co_await std::move(state);
  if (!entry_now) co_return entry_now.error();
  result.entry = std::move(*entry_now);
  attempted.keep();
  co_return std::optional<OpenResult>(std::move(result));
}

// What a snapshot shows is nobody's to change, so nobody has it open to the harm of others.
Task<Result<OpenResult>> open_shown(store::Occasion& occasion, const Tree& tree,
                                    const Opening& order, const Way& way, const SeenEntry& found) {
  const Entry& entry = *found.entry;
  if (auto passed = check_found(order, entry); !passed) co_return passed.error();
  auto access = co_await grant(occasion, tree, order, way, &entry);
  if (!access) co_return access.error();
  // Who could write is refused when it does.
  if (empties(order.disposition) || order.delete_on_close) co_return Error(Reason::kShownOnly);
  Opened opened = opened_at(tree, way, entry, stored_path(way, entry), 0, *access);
  opened.snapshot = tree.open_files->snapshots().open(tree.space, *tree.shown);
  if (opened.snapshot == nullptr) co_return Error(Refusal::kTooManyHandles);
  co_return OpenResult{std::move(opened), OpenAction::kOpened, entry};
}

// Removes the file if the handle was the last one of what was marked for deletion.
Task<void> finish(store::Occasion& occasion, const Tree& tree, OpenFiles::Closed& closed) {
  if (!closed.removal) co_return;
  Opened opened;
  opened.tree = tree;
  opened.file = closed.handle.file;
  (void)(co_await remove_closed(occasion, opened, closed.handle)).ok();
  closed.removal.reset();
}

// Before a handle is closed that may delete what it has open: of a directory only what is empty.
// Nothing is put into it from here until the handle is closed.
Task<void> begin_closing(store::Occasion& occasion, const Tree& tree, const Handle& handle) {
  OpenFiles& table = *tree.open_files;
  co_await table.begin_closing(handle.id);
  // Below a file there is nothing.
  if (handle.delete_on_close && !co_await require_empty(occasion, tree, handle.file.id))
    table.spare(handle.id);
}

}  // namespace

Task<void> withdraw(store::Occasion& occasion, const Tree& tree, HandleId handle) {
  auto closed = tree.open_files->withdraw(handle);
  if (closed) co_await finish(occasion, tree, *closed);
}

Task<void> close_for_another(store::Occasion& occasion, const Tree& tree, const Handle& handle) {
  co_await begin_closing(occasion, tree, handle);
  auto closed = tree.open_files->close(handle.id);
  if (closed) co_await finish(occasion, tree, *closed);
}

Task<Result<OpenResult>> open(store::Occasion& occasion, const Tree& tree, const Opening& order) {
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    if (occasion.deadline.over()) co_return Error(store::Error::kTimeout);
    auto way = co_await follow(occasion, tree, order.path);
    if (!way) co_return way.error();
    auto found = co_await find_entry(occasion, tree, *way);
    if (!found) co_return found.error();
    if (!*found && !makes(order.disposition)) co_return Error(Reason::kNotFound);
    if (tree.shown) {
      if (!*found) co_return Error(Reason::kShownOnly);
      co_return co_await open_shown(occasion, tree, order, *way, **found);
    }
    Left left;
    auto attempt = *found ? open_found(occasion, tree, order, *way, **found, left)
                          : make(occasion, tree, order, *way, left);
    auto opened = co_await std::move(attempt);
    if (left) co_await finish(occasion, tree, *left);
    if (!opened) co_return opened.error();
    if (*opened) co_return std::move(**opened);
  }
  co_return Error(store::Error::kBusy);
}

Task<Result<bool>> remove_closed(store::Occasion& occasion, Opened& opened, const Handle& last) {
  opened.parent = last.parent();
  opened.folded = folded_name(opened.tree, last.path);
  auto removed =
      co_await remove_entry(occasion, opened.tree, opened.parent, opened.folded, opened.file.id);
  // A file that cannot be removed has what was written to it.
  if (!removed) co_return removed.error();
  if (*removed == nullptr) co_return false;
  Drafts& drafts = opened.tree.open_files->drafts();
  drafts.discard(opened.file);
  co_await drafts.note_entry(occasion, opened.tree, last.ancestors, last.path);
  if (is_watched(opened.tree))
    announce_removed(opened.tree, {last.ancestors, last.path}, **removed);
  co_return true;
}

Task<Result<std::optional<Entry>>> close(store::Occasion& occasion, Opened& opened, bool asked) {
  std::optional<Entry> state;
  if (opened.handle == 0) {
    if (!asked) co_return state;
    auto shown = co_await state_of(occasion, opened);
    if (shown) state = std::move(*shown);
    co_return state;
  }
  OpenFiles& table = *opened.tree.open_files;
  // Where it is now, for what remains to be done without the handle. That ends here, whatever the
  // disk says.
  (void)(co_await find_opened(occasion, opened)).ok();
  const auto before = table.find(opened.handle);
  const bool wrote = concurrency::kWriteAccess.within(opened.access);
  // While the handle stands: whoever it has kept out comes after all that was written through it.
  const bool goes = before && (before->delete_on_close || table.is_delete_pending(opened.file));
  if (wrote && !opened.frozen.written) table.drafts().end_writing(opened.file, occasion.now);
  if (wrote && !goes) (void)(co_await table.drafts().settle(opened.file)).ok();
  if (goes) co_await begin_closing(occasion, opened.tree, *before);
  // What is given up before is told to the handle, and what is given up after to this.
  const uint64_t given_up = wrote ? table.drafts().given_up(opened.file) : 0;
  auto closed = table.close(opened.handle);
  if (!closed) co_return Error(closed.error());
  if (closed->removal) {
    auto removed = co_await remove_closed(occasion, opened, closed->handle);
    closed->removal.reset();
    if (!removed) co_return removed.error();
    if (*removed) co_return state;
  }
  if (wrote) {
    if (auto settled = co_await table.drafts().settle(opened.file); !settled)
      co_return settled.error();
    if (closed->handle.lost || table.drafts().given_up(opened.file) != given_up)
      co_return Error(store::Error::kCorrupt);
  }
  if (asked) {
    auto now = co_await state_of(occasion, opened);
    if (now) state = std::move(*now);
  }
  co_return state;
}

namespace {

// Nobody learns of it if it is full.
Task<Result<void>> mark_directory(store::Occasion& occasion, Opened& opened) {
  OpenFiles& table = *opened.tree.open_files;
  if (!concurrency::kDeleteAccess.within(opened.access)) co_return Error(Refusal::kAccessDenied);
  if (auto empty = co_await require_empty(occasion, opened.tree, opened.file.id); !empty)
    co_return empty.error();
  if (auto begun = co_await table.begin_marking(opened.handle); !begun)
    co_return Error(begun.error());
  const auto empty = co_await require_empty(occasion, opened.tree, opened.file.id);
  const auto marked = table.end_marking(opened.handle, empty.ok());
  if (!empty) co_return empty.error();
  if (!marked) co_return Error(marked.error());
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> set_delete_pending(store::Occasion& occasion, Opened& opened, bool pending,
                                      bool ignores_read_only) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  OpenFiles& table = *opened.tree.open_files;
  if (pending) {
    if (opened.is_root()) co_return Error(Reason::kIsRoot);
    auto found = co_await find_opened(occasion, opened);
    if (!found) co_return found.error();
    if ((found->entry->smb.attributes & kReadOnlyAttribute) != 0 && !ignores_read_only)
      co_return Error(Reason::kReadOnly);
  }
  if (pending && opened.directory) co_return co_await mark_directory(occasion, opened);
  auto marked = co_await table.set_delete_pending(opened.handle, pending);
  if (!marked) co_return Error(marked.error());
  co_return Result<void>();
}

Task<Result<void>> rename_opened(store::Occasion& occasion, Opened& opened, const Path& to,
                                 bool replaces) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  if (opened.is_root()) co_return Error(Refusal::kAccessDenied);
  const Retouch retouch = [&](Entry& entry) {
    if (!opened.frozen.changed) entry.smb.changed = occasion.now;
  };
  auto prepared =
      co_await opened.tree.open_files->prepare(opened.handle, concurrency::HandleUse::kMove);
  if (!prepared) co_return Error(prepared.error());
  bool released = !opened.directory;
  while (true) {
    auto found = co_await find_opened(occasion, opened);
    if (!found) co_return found.error();
    Rename order;
    order.kind = opened.directory ? Kind::kDirectory : Kind::kFile;
    auto from = parse_path(opened.tree.names, opened.path, true);
    if (!from) co_return from.error();
    order.from = std::move(*from);
    order.to = to;
    order.destination.replaces = replaces;
    order.by = opened.handle;
    order.id = opened.file.id;
    auto renamed = co_await rename(occasion, opened.tree, order, retouch);
    if (renamed) co_return Result<void>();
    // What is open below may be so only because its client keeps it for another time.
    if (renamed.error() == Error(Refusal::kAccessDenied) && !std::exchange(released, true)) {
      OpenFiles& table = *opened.tree.open_files;
      if (auto below = co_await table.release_below(opened.file, occasion.deadline); !below)
        co_return below.error();
      continue;
    }
    // Somebody else moved it first.
    if (renamed.error() != Error(Reason::kNotFound)) co_return renamed.error();
  }
}

}  // namespace kyanite::tree
