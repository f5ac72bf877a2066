#include "tree/drafts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/log.h"

namespace kyanite::tree {

Drafts::~Drafts() = default;

Task<Result<void>> Drafts::make_room(FileKey file) {
  if (!any()) co_return Result<void>();
  bool much = is_over();
  {
    Shard& mine = shard(file);
    MutexLock lock(mine.mutex);
    const auto found = mine.drafts.find(file);
    if (found != mine.drafts.end()) {
      const content::Overlay& bytes = found->second->newest.bytes;
      much = much || bytes.inline_bytes() > kMaxInlineBytes || bytes.part_count() > kMaxParts ||
             found->second->newest.kept.size() > kMaxKept;
    }
  }
  if (!much) co_return Result<void>();
  if (auto settled = co_await settle(file); !settled) co_return settled.error();
  // It is others who have so much. On a full disk none of them can be stored.
  Result<void> all;
  for (const FileKey& each : keys([](const Draft& draft) { return !draft.directory; })) {
    if (!is_over()) co_return Result<void>();
    auto settled = co_await settle(each);
    if (settled) continue;
    all = settled.error();
    if (settled.error() == Error(store::Error::kFull)) break;
  }
  if (!is_over()) co_return Result<void>();
  co_return all;
}

std::pair<Drafts::Draft&, bool> Drafts::begin(Shard& mine, const store::Occasion& occasion,
                                              const Tree& tree, FileKey file) {
  DraftPtr& draft = mine.drafts[file];
  const bool is_new = draft == nullptr;
  if (is_new) {
    draft = std::make_shared<Draft>();
    draft->tree = tree;
    draft->file = file;
    draft->store = &occasion.store();
    draft->clock = &occasion.clock();
    ++count_;
    ++table_.open_;
  }
  if (!draft->newest.since) draft->newest.since = occasion.clock().moment();
  return {*draft, is_new};
}

Result<void> Drafts::change(const store::Occasion& occasion, const Opened& opened, ByteRange range,
                            const Growth& growth, const Change& change) {
  Shard& mine = shard(opened.file);
  MutexLock lock(mine.mutex);
  CHECK(opened.handle != 0);
  if (auto may = table_.check_io(opened.handle, range, true); !may) return Error(may.error());
  if (Usage* usage = opened.tree.usage; usage != nullptr) {
    const auto known = mine.drafts.find(opened.file);
    const uint64_t more = known == mine.drafts.end() ? DraftLayer().missing(growth)
                                                     : known->second->newest.missing(growth);
    if (!usage->promise(opened.file.share, more)) return Error(Reason::kQuotaExceeded);
  }
  auto [draft, is_new] = begin(mine, occasion, opened.tree, opened.file);
  if (is_new) {
    // Where the table says that it is: a rename that is over told the table, one that is not will
    // tell this draft.
    const auto handle = table_.find(opened.handle);
    draft.where.ancestors = handle ? handle->ancestors : std::vector<EntryId>{opened.parent};
    draft.where.path = handle ? handle->path : opened.path;
    draft.session = handle ? handle->session : 0;
  }
  DraftLayer& newest = draft.newest;
  const size_t before = newest.bytes.inline_bytes();
  if (opened.tree.usage != nullptr) newest.promise(growth);
  const uint64_t promised = newest.promised;
  change(newest);
  if (newest.promised < promised)
    opened.tree.usage->take_back(opened.file.share, promised - newest.promised);
  inline_bytes_ += newest.bytes.inline_bytes() - before;
  return {};
}

Task<void> Drafts::note_entry(const store::Occasion& occasion, const Tree& tree,
                              const std::vector<EntryId>& ancestors, std::string_view path) {
  if (ancestors.empty()) co_return;  // The root is in no directory.
  const FileKey directory = tree.key(ancestors.back());
  {
    Shard& mine = shard(directory);
    MutexLock lock(mine.mutex);
    auto [draft, is_new] = begin(mine, occasion, tree, directory);
    if (is_new) {
      draft.directory = true;
      ++directories_;
      const size_t slash = path.rfind('/');
      draft.where.ancestors.assign(ancestors.begin(), ancestors.end() - 1);
      draft.where.path = slash == std::string_view::npos ? "" : path.substr(0, slash);
    }
    draft.newest.written = draft.newest.changed = occasion.now;
  }
  if (directories_ > kMaxDirectories) (void)(co_await settle(directory)).ok();
}

store::KeyedLocks::Locking Drafts::lock_end(FileKey file) {
  return ends_.lock(std::to_string(file.share) + "/" + std::to_string(file.id));
}

std::optional<DraftLayer> Drafts::look(FileKey file, uint64_t from, uint64_t to) const {
  if (!any()) return {};
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return {};
  const auto some_of = [&](const DraftLayer& layer) {
    DraftLayer some = {{},         layer.written, layer.changed,  layer.untold,
                       layer.told, layer.since,   layer.promised, layer.promised_to,
                       {}};
    some.bytes = layer.bytes.within(from, to);
    if (from < to) some.kept = layer.kept;
    return some;
  };
  DraftLayer seen = some_of(found->second->storing);
  seen.lay(some_of(found->second->newest));
  return seen;
}

bool Drafts::has(FileKey file) const {
  if (!any()) return false;
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  return mine.drafts.contains(file);
}

void Drafts::end_writing(FileKey file, Time date) {
  if (!any()) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  found->second->newest.end_writing(date);
  found->second->storing.end_waiting();
}

uint64_t Drafts::given_up(FileKey file) const {
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  return mine.given_up;
}

// --- Of all files ---

template <class See>
void Drafts::see_all(See see) const {
  if (!any()) return;
  for (const Shard& each : shards_) {
    MutexLock lock(each.mutex);
    for (const auto& [key, draft] : each.drafts) see(*draft);
  }
}

template <class Meant>
std::vector<FileKey> Drafts::keys(Meant meant) const {
  std::vector<FileKey> found;
  see_all([&](const Draft& draft) {
    if (meant(draft)) found.push_back(draft.file);
  });
  return found;
}

Task<Result<void>> Drafts::settle_keys(std::vector<FileKey> files, Deadline deadline) {
  Result<void> all;
  for (const FileKey& file : files) {
    if (deadline.over()) co_return Error(store::Error::kTimeout);
    auto done = co_await settle(file);
    if (!done && all.ok()) all = done.error();
  }
  co_return all;
}

Task<Result<void>> Drafts::settle_share(store::SpaceId share, Deadline deadline) {
  return settle_keys(
      keys([&](const Draft& draft) { return draft.file.share == share && !draft.directory; }),
      deadline);
}

Task<void> Drafts::settle_share_if_possible(store::SpaceId share, Deadline deadline) {
  (void)(co_await settle_share(share, deadline)).ok();
}

Task<Result<void>> Drafts::settle_all() {
  return settle_keys(keys([](const Draft&) { return true; }), {});
}

std::vector<Drafts::Old> Drafts::old(Moment now, int64_t ticks) const {
  struct Found {
    bool failed = false;
    Moment since;
    Old old;
  };
  std::vector<Found> found;
  const auto is_old = [&](const Draft& draft) {
    const DraftLayer& newest = draft.newest;
    if (draft.busy || newest.empty() || rests(draft, now)) return false;
    if (newest.bytes.empty() && newest.is_untold(now) && !is_abandoned(draft)) return false;
    return !newest.since || newest.since->ticks + ticks <= now.ticks;
  };
  see_all([&](const Draft& draft) {
    if (!is_old(draft)) return;
    const Moment since = draft.newest.since.value_or(Moment());
    found.push_back({draft.failed, since, {draft.file, draft.session}});
  });
  std::stable_sort(found.begin(), found.end(), [](const Found& one, const Found& other) {
    return std::tie(one.failed, one.since) < std::tie(other.failed, other.since);
  });
  std::vector<Old> all;
  all.reserve(found.size());
  for (const Found& each : found) all.push_back(each.old);
  return all;
}

// Its writer is gone without having closed it: its handle was closed by somebody else.
bool Drafts::is_abandoned(const Draft& draft) const {
  return draft.newest.waits_for_writer() && !table_.has_writer(draft.file);
}

Task<bool> Drafts::settle_old(FileKey file, Moment now) {
  {
    Shard& mine = shard(file);
    MutexLock lock(mine.mutex);
    const auto found = mine.drafts.find(file);
    if (found != mine.drafts.end() && is_abandoned(*found->second))
      found->second->newest.end_writing(found->second->clock->now());
  }
  auto done = co_await settle(file, now);
  co_return done.ok();
}

// --- Bookkeeping ---

void Drafts::forget_if_empty(Shard& mine, FileKey file) {
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  Draft& draft = *found->second;
  if (draft.busy || !draft.newest.empty() || !draft.waiting.empty()) return;
  note_failed(draft, false);
  if (draft.directory) --directories_;
  mine.drafts.erase(found);
  --count_;
  --table_.open_;
}

void Drafts::note_failed(Draft& draft, bool failed) {
  if (std::exchange(draft.failed, failed) == failed) return;
  if (failed && failed_++ == 0)
    log_error("smb: what was written to files cannot be stored yet; it is tried again");
  if (!failed && --failed_ == 0) log_info("smb: what was written to files is stored again");
}

bool Drafts::rests(const Draft& draft, Moment now) {
  return draft.failed && now.ticks < draft.tried.ticks + draft.rest;
}

void Drafts::end_layer(const Draft& draft, DraftLayer& layer) {
  inline_bytes_ -= layer.bytes.inline_bytes();
  if (draft.tree.usage != nullptr) draft.tree.usage->take_back(draft.file.share, layer.promised);
  layer = {};
}

void Drafts::discard(FileKey file) {
  if (!any() && perhaps_ == 0) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  forget_places(mine, file);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  found->second->removed = true;
  end_layer(*found->second, found->second->newest);
  forget_if_empty(mine, file);
}

void Drafts::discard_share(store::SpaceId share) {
  for (const FileKey& file : keys([&](const Draft& draft) { return draft.file.share == share; }))
    discard(file);
  if (perhaps_ == 0) return;
  for (Shard& each : shards_) {
    MutexLock lock(each.mutex);
    perhaps_ -=
        std::erase_if(each.perhaps, [&](const auto& known) { return known.first.share == share; });
  }
}

void Drafts::moved(FileKey file, const std::vector<EntryId>& ancestors, const std::string& path) {
  if (!any() && perhaps_ == 0) return;
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  forget_places(mine, file);
  const auto found = mine.drafts.find(file);
  if (found == mine.drafts.end()) return;
  ++found->second->moves;
  found->second->where = {ancestors, path};
}

void Drafts::perhaps_moved(FileKey file, Where where) {
  Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  auto found = mine.perhaps.find(file);
  if (found == mine.perhaps.end()) {
    // Then what is written meanwhile may be lost, which is told.
    if (perhaps_ >= kMaxPerhapsMoved) return;
    ++perhaps_;
    found = mine.perhaps.try_emplace(file).first;
  }
  if (const auto draft = mine.drafts.find(file); draft != mine.drafts.end()) ++draft->second->moves;
  // One who tries again, perhaps.
  std::erase(found->second, where);
  found->second.push_back(std::move(where));
}

std::vector<Drafts::Where> Drafts::perhaps_at(FileKey file) const {
  if (perhaps_ == 0) return {};
  const Shard& mine = shard(file);
  MutexLock lock(mine.mutex);
  const auto found = mine.perhaps.find(file);
  return found == mine.perhaps.end() ? std::vector<Where>() : found->second;
}

void Drafts::forget_places(Shard& mine, FileKey file) {
  if (mine.perhaps.erase(file) != 0) --perhaps_;
}

}  // namespace kyanite::tree
