#include "blob/deleted_containers.h"

#include "base/bytes.h"
#include "service/dead_spaces.h"
#include "service/directory.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

Task<store::Result<std::vector<DeletedEntry>>> list(store::Store& store, store::Range range) {
  std::vector<DeletedEntry> entries;
  auto listed = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      auto value = store::decode<DeletedContainer>((*record)->value);
      if (!value) return store::Error::kCorrupt;
      entries.push_back(
          {store::Key::from_bytes(std::string(cursor->key())), *record, std::move(*value)});
    }
    return cursor->status();
  });
  if (!listed) co_return listed.error();
  co_return std::move(entries);
}

}  // namespace

store::Key deleted_container_key(std::string_view account, std::string_view name, Time deleted) {
  std::string row;
  append_be64(row, static_cast<uint64_t>(deleted.ticks));
  return store::Key(service::directory_space(account), service::kDeletedContainersFamily, name,
                    row);
}

std::string deletion_version(const DeletedContainer& deleted) {
  std::string ticks;
  append_be64(ticks, static_cast<uint64_t>(deleted.deleted.ticks));
  std::string text = hex(ticks);
  for (char& c : text) c = c >= 'a' ? static_cast<char>(c - 32) : c;
  return text;
}

Task<store::Result<std::vector<DeletedEntry>>> list_deletions(store::Store& store,
                                                              std::string_view account,
                                                              std::string_view name) {
  co_return co_await list(store, store::Range::rows(service::directory_space(account),
                                                    service::kDeletedContainersFamily, name));
}

Task<store::Result<void>> bury_overdue(store::Store& store, std::string_view account, Time now) {
  auto entries = co_await list(store, store::Range::family(service::directory_space(account),
                                                           service::kDeletedContainersFamily));
  if (!entries) co_return entries.error();
  for (const auto& entry : *entries) {
    if (now < entry.value.removal || now < entry.value.name_free) continue;
    store::Commit commit;
    commit.guards.push_back({entry.key, entry.record});
    commit.writes.push_back({entry.key, nullptr});
    commit.writes.push_back(service::bury(account, service::kDeadContainersFamily,
                                          entry.key.partition(), entry.value.container.space, now));
    // Restored meanwhile: not overdue after all.
    auto done = co_await store.commit(std::move(commit));
    if (!done && done.error() != store::Error::kConflict) co_return done.error();
  }
  co_return store::Result<void>();
}

}  // namespace kyanite::blob
