#include "blob/tag_entry.h"

#include <utility>

#include "base/bytes.h"
#include "base/started.h"
#include "lifetime/directory.h"
#include "store/fields.h"

namespace kyanite::blob {

store::SpaceId tag_space(std::string_view account) {
  return lifetime::directory_space("tags/" + std::string(account));
}

std::string tag_partition(std::string_view tag, std::string_view value) {
  return std::string(tag) + kTagSeparator + std::string(value);
}

store::Key tag_entry_key(std::string_view account, std::string_view partition,
                         std::string_view container, std::string_view blob, store::SpaceId space) {
  std::string row(container);
  row.append(1, kTagSeparator).append(blob).append(1, kTagSeparator);
  append_be64(row, space);
  return store::Key(tag_space(account), kTagEntries, partition, row);
}

store::Result<FoundEntry> read_entry(const store::View::Cursor& cursor) {
  auto record = cursor.record();
  if (!record) return record.error();
  const auto entry = store::decode<TagEntry>((*record)->value);
  if (!entry) return store::Error::kCorrupt;
  FoundEntry found{
      store::Key::from_bytes(std::string(cursor.key())), std::move(*record), *entry, {}, {}};
  const std::string_view row = found.key.row();
  const size_t name = row.find(kTagSeparator);
  if (name == std::string_view::npos) return store::Error::kCorrupt;
  const size_t end = row.find(kTagSeparator, name + 1);
  if (found.is_old() != (end == std::string_view::npos)) return store::Error::kCorrupt;
  found.container = row.substr(0, name);
  found.blob = row.substr(name + 1, end == std::string_view::npos ? end : end - name - 1);
  return found;
}

bool has_tag(const Blob& blob, std::string_view partition) {
  for (const auto& [tag, value] : blob.tags) {
    if (tag_partition(tag, value) == partition) return true;
  }
  return false;
}

store::Result<bool> is_superseded(const store::View& view, std::string_view account,
                                  const FoundEntry& found) {
  if (!found.is_old()) return false;
  auto newer = view.get(tag_entry_key(account, found.key.partition(), found.container, found.blob,
                                      found.entry.space));
  if (!newer) return newer.error();
  return *newer != nullptr;
}

Task<std::vector<store::Result<void>>> commit_together(store::Store& store,
                                                       std::vector<store::Commit> commits) {
  std::vector<Started<store::Result<void>>> started;
  started.reserve(commits.size());
  for (auto& commit : commits) started.emplace_back(store.commit(std::move(commit)));
  std::vector<store::Result<void>> results;
  results.reserve(started.size());
  for (auto& each : started) results.push_back(co_await each.join());
  co_return std::move(results);
}

}  // namespace kyanite::blob
