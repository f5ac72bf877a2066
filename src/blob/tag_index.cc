#include "blob/tag_index.h"

#include <algorithm>
#include <optional>

#include "blob/blob.h"
#include "service/directory.h"

namespace kyanite::blob {

using service::Call;
using Operator = TagQuery::Operator;

namespace {

constexpr store::Family kTagIndex = 'I';
constexpr char kSeparator = '\0';  // Neither tags nor names hold it.

struct IndexEntry {
  store::SpaceId space = 0;  // The container's incarnation.
  template <class Io>
  void fields(Io& io) {
    io(1, space);
  }
};

store::SpaceId index_space(std::string_view account) {
  return service::directory_space("tags/" + std::string(account));
}

std::string index_partition(std::string_view tag, std::string_view value) {
  return std::string(tag) + kSeparator + std::string(value);
}

store::Key index_key(const Call& call, std::string_view tag, std::string_view value) {
  return store::Key(index_space(call.target.account), kTagIndex, index_partition(tag, value),
                    call.target.container + kSeparator + call.target.object);
}

// The part of the index that holds every match: that of one comparison, an equality if there is
// one.
std::optional<store::Range> range_of(const Call& call, const TagQuery& query) {
  const TagQuery::Comparison* chosen = nullptr;
  for (const auto& comparison : query.alternatives().front()) {
    if (comparison.name == "@container") continue;
    if (chosen == nullptr || comparison.op == Operator::kEqual) chosen = &comparison;
  }
  if (chosen == nullptr) return {};
  const auto space = index_space(call.target.account);
  auto range = store::Range::partition_prefix(space, kTagIndex, chosen->name + kSeparator);
  const std::string partition = index_partition(chosen->name, chosen->value);
  const std::string first = store::Key(space, kTagIndex, partition).bytes();
  const std::string after = store::after_partition(space, kTagIndex, partition);
  if (chosen->op == Operator::kEqual || chosen->op == Operator::kGreaterOrEqual) range.from = first;
  if (chosen->op == Operator::kGreater) range.from = after;
  if (chosen->op == Operator::kEqual || chosen->op == Operator::kLessOrEqual) range.to = after;
  if (chosen->op == Operator::kLess) range.to = first;
  return range;
}

struct Candidate {
  store::Key key;
  store::RecordPtr record;
  std::string container;
  std::string blob;
};

// What the blob behind an index entry is now, if it still has the tags that the entry speaks of.
store::Result<std::optional<Tags>> current_tags(const Call& call, const store::View& view,
                                                const Candidate& candidate) {
  const auto entry = store::decode<IndexEntry>(candidate.record->value);
  if (!entry) return store::Error::kCorrupt;
  const store::Key container_at(service::directory_space(call.target.account),
                                service::kContainersFamily, candidate.container);
  auto container_record = view.get(container_at);
  if (!container_record) return container_record.error();
  if (*container_record == nullptr) return std::optional<Tags>();
  const auto container = store::decode<Container>((*container_record)->value);
  if (!container) return store::Error::kCorrupt;
  if (container->space != entry->space) return std::optional<Tags>();
  auto head = view.get(store::Key(entry->space, kHeads, candidate.blob));
  if (!head) return head.error();
  if (*head == nullptr) return std::optional<Tags>();
  auto blob = store::decode<Blob>((*head)->value);
  if (!blob) return store::Error::kCorrupt;
  if (!is_visible(*blob, call.now)) return std::optional<Tags>();
  const std::string partition = candidate.key.partition();
  for (const auto& [tag, value] : blob->tags) {
    if (index_partition(tag, value) == partition) return std::optional<Tags>(std::move(blob->tags));
  }
  return std::optional<Tags>();
}

// Entries that turned out to be untrue are taken away; whoever writes them anew meanwhile wins.
Task<void> remove_untrue(Call& call, const std::vector<Candidate>& untrue) {
  for (const auto& candidate : untrue) {
    store::Commit commit;
    commit.guards.push_back({candidate.key, candidate.record});
    commit.writes.push_back({candidate.key, nullptr});
    (void)co_await call.store().commit(
        std::move(commit));  // A conflict means that it is in use again.
  }
}

}  // namespace

Task<wire::Result<void>> index_tags(Call& call, const Tags& tags) {
  if (tags.empty()) co_return wire::Result<void>();
  auto container = co_await load_container(call);
  if (!container) co_return container.error();
  const auto entry = service::to_record(IndexEntry{container->space});
  for (const auto& [tag, value] : tags) {
    const auto key = index_key(call, tag, value);
    auto present = co_await call.store().get(key);
    if (!present) co_return service::storage_error(present.error());
    if (*present != nullptr && **present == *entry) continue;
    store::Commit commit;
    commit.writes.push_back({key, entry});
    auto done = co_await call.store().commit(std::move(commit));
    if (!done) co_return service::storage_error(done.error());
  }
  co_return wire::Result<void>();
}

Task<wire::Result<TagMatches>> find_by_tags(Call& call, const TagQuery& query,
                                            std::string_view container, std::string start,
                                            uint64_t most) {
  TagMatches found;
  auto range = range_of(call, query);
  if (!range) co_return found;
  if (!start.empty()) range->from = std::max(range->from, start);
  std::vector<Candidate> untrue;
  auto looked = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(*range);
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      Candidate candidate{store::Key::from_bytes(std::string(cursor->key())), *record, {}, {}};
      const std::string_view row = candidate.key.row();
      const size_t separator = row.find(kSeparator);
      if (separator == std::string_view::npos) return store::Error::kCorrupt;
      candidate.container = row.substr(0, separator);
      candidate.blob = row.substr(separator + 1);
      if (!container.empty() && candidate.container != container) continue;
      auto tags = current_tags(call, view, candidate);
      if (!tags) return tags.error();
      if (!*tags) {
        untrue.push_back(std::move(candidate));
        continue;
      }
      if (!query.matches(**tags, candidate.container)) continue;
      if (found.matches.size() == most) {
        found.next = cursor->key();
        break;
      }
      found.matches.push_back(
          {std::move(candidate.container), std::move(candidate.blob), std::move(**tags)});
    }
    return cursor->status();
  });
  if (!looked) co_return service::storage_error(looked.error());
  co_await remove_untrue(call, untrue);
  co_return std::move(found);
}

}  // namespace kyanite::blob
