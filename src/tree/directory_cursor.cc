#include "tree/directory_cursor.h"

#include <utility>
#include <vector>

#include "tree/drafts.h"
#include "tree/shown_entries.h"

namespace kyanite::tree {

namespace {

// As many are taken from the store at once, and so many are passed over.
constexpr size_t kPortion = 256;
constexpr size_t kMostPassedOver = 4096;
// So often a portion is taken again because of what others stored meanwhile.
constexpr size_t kMostAgain = 3;

struct Portion {
  std::vector<Entry> entries;
  std::string next;  // The folded name behind them.
  bool at_end = false;
};

}  // namespace

Task<Result<void>> DirectoryCursor::go_on(store::Occasion& occasion, Opened& directory,
                                          const std::string& prefix, const Match& match,
                                          const Take& take, Effort effort) {
  const Tree& tree = directory.tree;
  const Drafts& drafts = tree.open_files->drafts();
  const Moment now = occasion.clock().moment();
  uint64_t stored = drafts.stored();
  auto snapshot = occasion.store().snapshot();
  for (size_t again = 0; !at_end_;) {
    if (occasion.deadline.over()) co_return Error(store::Error::kTimeout);
    Portion portion;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      portion = {};
      ShownEntries entries(view, tree, directory.file.id, prefix, start_);
      for (size_t seen = 0; portion.entries.size() < kPortion && seen < kMostPassedOver; ++seen) {
        auto entry = entries.next();
        if (!entry) return entry.error();
        if (!*entry) {
          portion.at_end = true;
          return {};
        }
        const std::string folded = stored_name(tree.names, (*entry)->name);
        portion.next = folded + '\0';
        if (match(folded)) portion.entries.push_back(std::move(**entry));
        if (view.enough()) return {};
      }
      return {};
    };
    auto looking = effort == Effort::kMuch ? snapshot->scan(look) : snapshot->look(look);
    auto looked = co_await std::move(looking);
    if (!looked) co_return Error(looked.error());
    for (Entry& entry : portion.entries) {
      if (tree.shown) break;
      if (const auto draft = drafts.look(tree.key(entry.id))) draft->lay_over(entry, now);
    }
    // What was stored between both looks was missed by both.
    if (drafts.stored() != stored && !tree.shown && again++ < kMostAgain) {
      stored = drafts.stored();
      snapshot = occasion.store().snapshot();
      continue;
    }
    again = 0;
    for (const Entry& entry : portion.entries) {
      if (!take(entry)) {
        start_ = stored_name(tree.names, entry.name);
        co_return Result<void>();
      }
    }
    start_ = std::move(portion.next);
    at_end_ = portion.at_end;
  }
  co_return Result<void>();
}

}  // namespace kyanite::tree
