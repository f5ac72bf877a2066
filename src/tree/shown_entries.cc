#include "tree/shown_entries.h"

#include <algorithm>

#include "store/fields.h"

namespace kyanite::tree {

namespace {

constexpr size_t kIdBytes = 8;
constexpr size_t kUntilBytes = 9;  // The zero byte and the generation at the end of a former row.

std::string_view row_of(const store::View::Cursor& cursor, size_t key_head) {
  return cursor.key().substr(key_head);
}

// How many bytes of a key come before the name: all up to the row, and the directory's id.
size_t head_bytes(store::SpaceId space, store::Family family) {
  return store::Key(space, family, kSharePartition).bytes().size() + kIdBytes;
}

store::Result<Entry> decode(const store::View::Cursor& cursor) {
  auto record = cursor.record();
  if (!record) return record.error();
  auto entry = store::decode<Entry>((*record)->value);
  if (!entry) return store::Error::kCorrupt;
  return std::move(*entry);
}

}  // namespace

ShownEntries::ShownEntries(const store::View& view, const Tree& tree, EntryId directory,
                           const std::string& prefix, const std::string& start)
    : tree_(tree), directory_(directory) {
  const auto open = [&](store::Family family) {
    auto cursor = view.scan(
        store::Range::rows(tree.space, family, kSharePartition, entry_row(directory, prefix)));
    if (start > prefix) {
      cursor->seek(
          store::Key(tree.space, family, kSharePartition, entry_row(directory, start)).bytes());
    }
    return cursor;
  };
  live_ = open(kEntries);
  if (tree.shown) former_ = open(kFormer);
}

store::Result<std::optional<Entry>> ShownEntries::next_live() {
  while (live_->valid()) {
    auto entry = decode(*live_);
    if (!entry) return entry.error();
    live_->next();
    // The root's own record lies among its entries, without a name.
    if (!entry->name.empty()) return std::optional<Entry>(std::move(*entry));
  }
  if (auto status = live_->status(); !status) return status.error();
  return std::optional<Entry>();
}

std::optional<std::string> ShownEntries::next_name() const {
  std::optional<std::string> name;
  if (live_->valid()) name = row_of(*live_, head_bytes(tree_.space, kEntries));
  if (former_->valid()) {
    auto row = row_of(*former_, head_bytes(tree_.space, kFormer));
    row.remove_suffix(std::min(kUntilBytes, row.size()));
    if (!name || row < *name) name = row;
  }
  return name;
}

store::Result<std::optional<Entry>> ShownEntries::next() {
  if (former_ == nullptr) return next_live();
  while (auto name = next_name()) {
    std::optional<Entry> shown;
    if (live_->valid() && row_of(*live_, head_bytes(tree_.space, kEntries)) == *name) {
      auto entry = decode(*live_);
      if (!entry) return entry.error();
      if (entry->generation <= *tree_.shown) shown = std::move(*entry);
      live_->next();
    }
    if (!shown) {
      // Of the former states the first that was replaced after the snapshot, if it was there then.
      former_->seek(former_key(tree_.space, directory_, *name, *tree_.shown + 1).bytes());
      const std::string row = entry_row({}, *name).substr(kIdBytes) + '\0';
      if (former_->valid() &&
          row_of(*former_, head_bytes(tree_.space, kFormer)).substr(0, row.size()) == row) {
        auto entry = decode(*former_);
        if (!entry) return entry.error();
        if (entry->generation <= *tree_.shown) shown = std::move(*entry);
      }
    }
    // Past all former states of this name.
    former_->seek(former_key(tree_.space, directory_, *name, UINT64_MAX).bytes());
    if (shown && !shown->name.empty()) return std::optional<Entry>(std::move(*shown));
  }
  if (auto status = live_->status(); !status) return status.error();
  if (auto status = former_->status(); !status) return status.error();
  return std::optional<Entry>();
}

}  // namespace kyanite::tree
