// What the index behind Find Blobs by Tags is made of: its entries, and the announcements in the
// containers' spaces that keep them from being taken for untrue. Why there are both:
// docs/decisions/tag-index.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "blob/records.h"
#include "store/store.h"

namespace kyanite::blob {

// The one family of an account's index space.
inline constexpr store::Family kTagEntries = 'I';

store::SpaceId tag_space(std::string_view account);
// All entries of one tag and value are one partition.
std::string tag_partition(std::string_view tag, std::string_view value);
// All names of tags and blobs are free of it.
inline constexpr char kTagSeparator = '\0';

// One tag of one blob.
struct TagEntry {
  store::SpaceId space = 0;  // The incarnation of the container.
  // Of the change that wrote it, so that no two writes of an entry are the same record. Entries
  // without it are those of an older format; their rows end with the name of the blob.
  uint64_t change = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, change);
  }
};
store::Key tag_entry_key(std::string_view account, std::string_view partition,
                         std::string_view container, std::string_view blob, store::SpaceId space);

// An entry as it was found.
struct FoundEntry {
  store::Key key;
  store::RecordPtr record;
  TagEntry entry;
  std::string container;
  std::string blob;

  bool is_old() const { return entry.change == 0; }
  store::Key head_key() const { return store::Key(entry.space, kHeads, blob); }
};
store::Result<FoundEntry> read_entry(const store::View::Cursor& cursor);
bool has_tag(const Blob& blob, std::string_view partition);
// Whether an entry of the old format has one of the new beside it.
store::Result<bool> is_superseded(const store::View& view, std::string_view account,
                                  const FoundEntry& found);

// Announces entries for a blob that does not have these tags yet. Lies in the blob's own partition,
// from before the first of its entries is written until the commit that gives the blob its tags.
struct TagChange {
  uint64_t id = 0;
  Time announced;
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, announced);
  }
};
// What stays announced for longer than this was given up by whoever did it.
inline constexpr int64_t kTagChangeLifeSeconds = 3600;

// Commits to different partitions side by side; what became of each.
Task<std::vector<store::Result<void>>> commit_together(store::Store& store,
                                                       std::vector<store::Commit> commits);

}  // namespace kyanite::blob
