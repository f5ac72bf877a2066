#include "blob/tag_mend.h"

#include <algorithm>

#include "base/random.h"
#include "blob/tag_entry.h"
#include "service/storage.h"

namespace kyanite::blob {

namespace {

// Beside the entries in the space of an account's index.
constexpr store::Family kMended = 'M';
constexpr size_t kBlobsPerLook = 100;

struct Mended {
  bool done = true;
  template <class Io>
  void fields(Io& io) {
    io(1, done);
  }
};

// Adds the entries that one blob lacks. Whoever writes one meanwhile wins.
store::Result<void> add_missing(const store::View& view, std::string_view account,
                                std::string_view container, const TaggedBlob& blob,
                                std::vector<store::Commit>& commits) {
  for (const auto& [tag, value] : blob.tags) {
    const std::string partition = tag_partition(tag, value);
    const auto key = tag_entry_key(account, partition, container, blob.name, blob.space);
    auto entry = view.get(key);
    if (!entry) return entry.error();
    if (*entry != nullptr) continue;
    store::Commit& commit = commits.emplace_back();
    commit.expect_absent(key);
    commit.put(key, service::to_record(TagEntry{blob.space, random_u64() | 1}));
  }
  return {};
}

}  // namespace

Task<store::Result<void>> mend_tags(store::Store& store, std::string_view account,
                                    std::string_view container,
                                    const std::vector<TaggedBlob>& blobs) {
  for (size_t i = 0; i < blobs.size(); i += kBlobsPerLook) {
    std::vector<store::Commit> commits;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      commits.clear();
      for (size_t j = i; j < std::min(i + kBlobsPerLook, blobs.size()); ++j) {
        if (auto added = add_missing(view, account, container, blobs[j], commits); !added)
          return added;
      }
      return {};
    };
    if (auto looked = co_await store.read(look); !looked) co_return looked.error();
    const auto done = co_await commit_together(store, std::move(commits));
    for (const auto& each : done) {
      if (!each && each.error() != store::Error::kConflict) co_return each.error();
    }
  }
  co_return store::Result<void>();
}

Task<store::Result<bool>> are_tags_mended(store::Store& store, std::string_view account) {
  auto note = co_await store.get(store::Key(tag_space(account), kMended, {}));
  if (!note) co_return note.error();
  co_return *note != nullptr;
}

Task<store::Result<void>> note_tags_mended(store::Store& store, std::string_view account) {
  store::Commit commit;
  commit.writes.push_back(
      {store::Key(tag_space(account), kMended, {}), service::to_record(Mended{})});
  co_return co_await store.commit(std::move(commit));
}

}  // namespace kyanite::blob
