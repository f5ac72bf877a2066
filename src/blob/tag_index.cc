#include "blob/tag_index.h"

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "blob/blob.h"
#include "blob/tag_entry.h"
#include "lifetime/directory.h"

namespace kyanite::blob {

using service::Call;
using Operator = TagQuery::Operator;

namespace {

bool has(const Tags& tags, const Tags::value_type& tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace

bool gains_tags(const Tags& before, const Tags& after) {
  return std::any_of(after.begin(), after.end(),
                     [&](const auto& tag) { return !has(before, tag); });
}

Task<wire::Result<void>> index_tags(Call& call, const Place& place, const Tags& before,
                                    const Tags& after, store::Commit& commit) {
  // A request has one announcement, however often it decides.
  const auto space = place.space();
  const store::Key announced_at(space, kTagChanges, place.named(), call.request_id);
  const TagChange change{random_u64() | 1, call.now};  // Never 0, which is that of old entries.
  const auto announced = service::to_record(change);
  store::Commit announce;
  announce.put(announced_at, announced);
  auto done = co_await call.store().commit(std::move(announce));
  if (!done) co_return service::storage_error(done.error());

  const auto entry = service::to_record(TagEntry{space, change.id});
  std::vector<store::Commit> entries;
  for (const auto& tag : after) {
    if (has(before, tag)) continue;
    entries.emplace_back().writes.push_back(
        {tag_entry_key(call.target.account, tag_partition(tag.first, tag.second),
                       call.target.container, call.target.object, space),
         entry});
  }
  const auto written = co_await commit_together(call.store(), std::move(entries));
  for (const auto& each : written) {
    if (!each) co_return service::storage_error(each.error());
  }
  commit.expect(announced_at, announced);
  commit.remove(announced_at);
  co_return wire::Result<void>();
}

namespace {

// The part of the index that holds every match: that of one comparison, an equality if there is
// one, and within that one container if only its blobs are wanted.
std::optional<store::Range> range_of(const Call& call, const TagQuery& query,
                                     std::string_view container) {
  const TagQuery::Comparison* chosen = nullptr;
  for (const auto& comparison : query.alternatives().front()) {
    if (comparison.name == "@container") {
      if (container.empty()) container = comparison.value;
      continue;
    }
    if (chosen == nullptr || comparison.op == Operator::kEqual) chosen = &comparison;
  }
  if (chosen == nullptr) return {};
  const auto space = tag_space(call.target.account);
  const std::string partition = tag_partition(chosen->name, chosen->value);
  if (chosen->op == Operator::kEqual) {
    const std::string prefix =
        container.empty() ? std::string() : std::string(container) + kTagSeparator;
    return store::Range::rows(space, kTagEntries, partition, prefix);
  }
  auto range = store::Range::partition_prefix(space, kTagEntries, chosen->name + kTagSeparator);
  const std::string first = store::Key(space, kTagEntries, partition).bytes();
  const std::string after = store::after_partition(space, kTagEntries, partition);
  if (chosen->op == Operator::kGreaterOrEqual) range.start_at(first);
  if (chosen->op == Operator::kGreater) range.start_at(after);
  if (chosen->op == Operator::kLessOrEqual) range.end_before(after);
  if (chosen->op == Operator::kLess) range.end_before(first);
  return range;
}

// One page being put together, look by look.
class Search {
 public:
  Search(const Call& call, const TagQuery& query, std::string_view container, uint64_t most,
         store::Range range)
      : call_(call), query_(query), container_(container), most_(most), range_(std::move(range)) {}

  bool done() const { return done_; }
  uint64_t looked_at() const { return looked_at_; }
  store::Result<void> look(const store::View& view);
  TagMatches take() {
    if (!done_) found_.next = range_.from();
    return std::move(found_);
  }

 private:
  store::Result<std::optional<Tags>> current_tags(const store::View& view, const FoundEntry& entry);
  store::Result<std::optional<store::SpaceId>> space_of(const store::View& view,
                                                        const std::string& container);

  const Call& call_;
  const TagQuery& query_;
  const std::string_view container_;
  const uint64_t most_;
  store::Range range_;  // What is left to look at.
  uint64_t looked_at_ = 0;
  bool done_ = false;
  TagMatches found_;
};

store::Result<std::optional<store::SpaceId>> Search::space_of(const store::View& view,
                                                              const std::string& container) {
  auto record = view.get(store::Key(lifetime::directory_space(call_.target.account),
                                    lifetime::kContainersFamily, container));
  if (!record) return record.error();
  if (*record == nullptr) return std::optional<store::SpaceId>();
  const auto decoded = store::decode<Container>((*record)->value);
  if (!decoded) return store::Error::kCorrupt;
  return std::optional<store::SpaceId>(decoded->space);
}

// What the blob behind an entry is now, if it still has the tag that the entry speaks of.
store::Result<std::optional<Tags>> Search::current_tags(const store::View& view,
                                                        const FoundEntry& entry) {
  std::optional<Tags> none;
  auto head = view.get(entry.head_key());
  if (!head) return head.error();
  if (*head == nullptr) return none;
  auto blob = store::decode<Blob>((*head)->value);
  if (!blob) return store::Error::kCorrupt;
  if (!is_visible(*blob, call_.now) || !has_tag(*blob, entry.key.partition())) return none;
  // The container may have been deleted, and the name taken by another one.
  auto space = space_of(view, entry.container);
  if (!space) return space.error();
  if (*space != entry.entry.space) return none;
  auto twice = is_superseded(view, call_.target.account, entry);
  if (!twice) return twice.error();
  if (*twice) return none;
  return std::optional<Tags>(std::move(blob->tags));
}

store::Result<void> Search::look(const store::View& view) {
  auto cursor = view.scan(range_);
  for (uint64_t count = 0; cursor->valid(); cursor->next()) {
    if (count > 0 && (view.enough() || looked_at_ == kEntriesPerPage)) {
      range_.start_at(cursor->key());
      return {};
    }
    ++count;
    ++looked_at_;
    auto entry = read_entry(*cursor);
    if (!entry) return entry.error();
    if (!container_.empty() && entry->container != container_) continue;
    auto tags = current_tags(view, *entry);
    if (!tags) return tags.error();
    if (!*tags || !query_.matches(**tags, entry->container)) continue;
    if (found_.matches.size() == most_) {
      range_.start_at(cursor->key());
      found_.next = range_.from();
      done_ = true;
      return {};
    }
    found_.matches.push_back(
        {std::move(entry->container), std::move(entry->blob), std::move(**tags)});
  }
  done_ = true;
  return cursor->status();
}

}  // namespace

Task<wire::Result<TagMatches>> find_by_tags(Call& call, const TagQuery& query,
                                            std::string_view container, std::string start,
                                            uint64_t most) {
  auto range = range_of(call, query, container);
  if (!range) co_return TagMatches();
  range->start_at(start);
  Search search(call, query, container, most, std::move(*range));
  const auto snapshot = call.store().snapshot();
  const store::Look look = [&search](const store::View& view) { return search.look(view); };
  while (!search.done() && search.looked_at() < kEntriesPerPage) {
    if (call.deadline.over() && search.looked_at() > 0) break;
    auto looked = co_await snapshot->scan(look);
    if (looked) continue;
    if (looked.error() == store::Error::kBusy && search.looked_at() > 0) break;
    co_return service::storage_error(looked.error());
  }
  co_return search.take();
}

}  // namespace kyanite::blob
