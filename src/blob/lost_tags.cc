#include "blob/lost_tags.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "blob/job_commits.h"
#include "blob/tag_entry.h"
#include "jobs/walk.h"
#include "lifetime/spaces.h"
#include "service/storage.h"

namespace kyanite::blob {

namespace {

// Beside the entries in the space of an account's index.
constexpr store::Family kMended = 'M';
constexpr size_t kBlobsPerLook = 100;
// There is nothing to do any more once it is done.
constexpr int64_t kMendedRestSeconds = 24 * 3600;

struct TaggedBlob {
  store::SpaceId space = 0;
  std::string name;
  Tags tags;
};

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

// Writes the entries that these blobs of a container lack.
Task<store::Result<void>> add_entries(jobs::Step& step, const std::string& container,
                                      const std::vector<TaggedBlob>& blobs) {
  for (size_t i = 0; i < blobs.size(); i += kBlobsPerLook) {
    std::vector<store::Commit> commits;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      commits.clear();
      for (size_t j = i; j < std::min(i + kBlobsPerLook, blobs.size()); ++j) {
        auto added = add_missing(view, step.account(), container, blobs[j], commits);
        if (!added) return added;
      }
      return {};
    };
    if (auto looked = co_await step.store().look(look); !looked) co_return looked.error();
    if (auto done = co_await commit_changes(step, std::move(commits)); !done)
      co_return done.error();
  }
  co_return store::Result<void>();
}

Task<store::Result<bool>> mend_container(jobs::Step& step, std::string container,
                                         store::SpaceId space, std::string& key) {
  std::vector<TaggedBlob> tagged;
  uint64_t entries = 0;
  const jobs::See see = [&](const store::View&,
                            const store::View::Cursor& cursor) -> store::Result<bool> {
    const auto head = store::Key::from_bytes(std::string(cursor.key()));
    if (!head.row().empty()) return true;
    auto value = cursor.value();
    if (!value) return value.error();
    auto blob = store::decode<Blob>(*value);
    if (!blob) return store::Error::kCorrupt;
    entries += blob->tags.size();
    if (!blob->tags.empty()) tagged.push_back({space, head.partition(), std::move(blob->tags)});
    return entries < step.changes_left();
  };
  std::vector<store::Range> heads(1, store::Range::family(space, kHeads));
  std::string next = key;
  auto at_end = co_await jobs::walk(step, std::move(heads), next, see);
  if (!at_end) co_return at_end;
  if (auto added = co_await add_entries(step, container, tagged); !added) co_return added.error();
  key = std::move(next);
  co_return at_end;
}

Task<store::Result<bool>> mend_tags(jobs::Step& step) {
  const store::Key key(tag_space(step.account()), kMended, {});
  auto note = co_await step.store().get(key);
  if (!note) co_return note.error();
  if (*note != nullptr) co_return true;
  auto through =
      co_await lifetime::walk_spaces<Container>(step, lifetime::kContainersFamily, mend_container);
  if (!through || !*through) co_return through;
  store::Commit commit;
  commit.put(key, service::to_record(Mended{}));
  if (auto noted = co_await step.store().commit(std::move(commit)); !noted) co_return noted.error();
  co_return true;
}

}  // namespace

jobs::Job mend_tags_job() { return {"lost-tags", kMendedRestSeconds, {}, mend_tags}; }

}  // namespace kyanite::blob
