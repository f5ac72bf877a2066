// Leaves: making, copying, finding and removing them.
#include "content/leaves.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "content/content.h"
#include "content/graves.h"
#include "content/staged_leaves.h"

namespace kyanite::content {

namespace {

// kConflict unless the head still is as expected. A write to a leaf changes the head in the same
// commit, and no head ever comes back: leaves read before are those that it names.
Task<store::Result<void>> check_head(store::Store& store, const store::Guard& head) {
  auto found = co_await store.get(head.key);
  if (!found) co_return found.error();
  if (!is_expected(*found, head)) co_return store::Error::kConflict;
  co_return store::Result<void>();
}

// As many are read at once; more in turns with other scans.
constexpr uint64_t kFewLeaves = 64;

}  // namespace

Task<store::Result<void>> see_leaves(store::Store& store, const Place& place, uint64_t content_id,
                                     uint64_t first, uint64_t most, const store::See& see,
                                     Deadline deadline) {
  store::Range range = leaf_range(place, content_id);
  range.start_at(leaf_key(place, content_id, first).bytes());
  if (most > kFewLeaves) co_return co_await store::scan(store, std::move(range), see, deadline);
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      auto goes_on = see(*cursor);
      if (!goes_on) return goes_on.error();
      if (!*goes_on) return {};
    }
    return cursor->status();
  };
  co_return co_await store.look(look);
}

uint64_t most_leaves(const Content& content) {
  return content.sparse ? content.length / kGridBytes + 1 : content.leaves;
}

uint64_t new_content_id() {
  uint64_t id = 0;
  while (id == 0) id = random_u64();
  return id;
}

store::RecordPtr to_leaf(const Pieces& pieces) {
  auto leaf = std::make_shared<store::SharedRecord>();
  encode_pieces(pieces, *leaf);
  return leaf;
}

Builder::Builder(store::Commit& commit, const Place& place, Content content)
    : commit_(commit), place_(place), content_(content) {
  CHECK(!content_.sparse);
}

void Builder::add(Piece piece) {
  if (piece.length == 0) return;
  piece.offset = content_.length;
  content_.length = piece.end();
  leaf_.push_back(std::move(piece));
  if (leaf_.size() == kPiecesPerLeaf) put_leaf();
}

void Builder::put_leaf() {
  if (content_.id == 0) content_.id = new_content_id();
  commit_.put(leaf_key(place_, content_.id, content_.length), to_leaf(leaf_));
  ++content_.leaves;
  leaf_.clear();
}

Content Builder::finish() {
  if (!leaf_.empty()) put_leaf();
  return content_;
}

Content put(store::Commit& commit, const Place& place, const Pieces& pieces) {
  Content content;
  append(commit, place, content, pieces);
  return content;
}

void append(store::Commit& commit, const Place& place, Content& content, Pieces pieces) {
  Builder builder(commit, place, content);
  for (auto& piece : pieces) builder.add(std::move(piece));
  content = builder.finish();
}

namespace {

// Copies leaves under a new id, a portion at a time. What is found by several looks belongs
// together if the head is the same before and after.
class LeafCopy {
 public:
  LeafCopy(store::Store& store, const Place& from, const Content& content, const Place& to,
           Deadline deadline)
      : store_(store),
        from_(from),
        content_(content),
        deadline_(deadline),
        copied_(store, to, deadline) {}

  // The last portion becomes part of the commit.
  Task<store::Result<Content>> run(store::Commit& commit) {
    if (auto staged = co_await stage(); !staged) {
      co_await copied_.give_up();
      co_return staged.error();
    }
    copied_.finish(commit);
    Content copied = content_;
    copied.id = copied_.id();
    copied.leaves = content_.sparse ? 0 : count_;
    co_return copied;
  }

 private:
  Task<store::Result<void>> stage() {
    const store::See see = [&](const store::View::Cursor& cursor) { return take(cursor); };
    while (true) {
      auto seen = co_await see_leaves(store_, from_, content_.id, next_, most_leaves(content_), see,
                                      deadline_);
      if (!seen) co_return seen.error();
      if (!copied_.is_full()) co_return {};
      if (auto put = co_await copied_.put_portion(); !put) co_return put.error();
    }
  }

  store::Result<bool> take(const store::View::Cursor& cursor) {
    const uint64_t mark = leaf_mark(cursor.key());
    // What was appended after the state that this head names.
    if (!content_.sparse && mark > content_.length) return false;
    auto leaf = cursor.record();
    if (!leaf) return leaf.error();
    copied_.add(mark, *leaf);
    ++count_;
    next_ = mark + 1;
    return !copied_.is_full();
  }

  store::Store& store_;
  const Place from_;
  const Content content_;
  const Deadline deadline_;
  StagedLeaves copied_;
  uint64_t next_ = 0;
  uint64_t count_ = 0;
};

}  // namespace

Task<store::Result<Content>> copy(store::Store& store, store::Commit& commit, const Place& from,
                                  const Content& content, const Place& to, const store::Guard& head,
                                  Deadline deadline) {
  if (content.id == 0) co_return content;
  LeafCopy leaves(store, from, content, to, deadline);
  auto copied = co_await leaves.run(commit);
  if (!copied) co_return copied.error();
  if (auto same = co_await check_head(store, head); !same) co_return same.error();
  if (copied->leaves != content.leaves) co_return store::Error::kCorrupt;
  co_return copied;
}

namespace {
Task<store::Result<void>> remove_leaves(store::Store& store, store::Commit& commit,
                                        const Place& place, uint64_t content_id, uint64_t most) {
  const size_t before = commit.writes.size();
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    commit.remove(store::Key::from_bytes(std::string(cursor.key())));
    return commit.writes.size() - before <= kMaxLeavesPerCommit;
  };
  auto seen = co_await see_leaves(store, place, content_id, 0, most, see, {});
  if (!seen) co_return seen.error();
  if (commit.writes.size() - before > kMaxLeavesPerCommit) {
    commit.writes.resize(before);
    commit.put(grave_key(place, content_id), to_record(Grave{content_id, {}}));
  }
  co_return store::Result<void>();
}
}  // namespace

Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, const Place& place,
                                 const Content& content) {
  if (content.id == 0) co_return {};
  if (content.leaves == 1) {
    commit.remove(only_leaf_key(place, content));
    co_return {};
  }
  co_return co_await remove_leaves(store, commit, place, content.id, most_leaves(content));
}

Task<store::Result<void>> remove_all(store::Store& store, store::Commit& commit, const Place& place,
                                     uint64_t content_id) {
  co_return co_await remove_leaves(store, commit, place, content_id, UINT64_MAX);
}

Task<store::Result<std::vector<store::RecordPtr>>> find_leaves(store::Store& store, Place place,
                                                               Content content, uint64_t offset,
                                                               uint64_t length, store::Guard head,
                                                               Deadline deadline,
                                                               Portion* portion) {
  std::vector<store::RecordPtr> leaves;
  const uint64_t end = offset + length;
  if (portion != nullptr) portion->next = end;
  uint64_t behind = offset;  // Where the last leaf of built content ends.
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const uint64_t mark = leaf_mark(cursor.key());
    if (content.sparse && mark >= end) return false;
    if (portion != nullptr && leaves.size() == portion->leaves) {
      portion->next = content.sparse ? mark : behind;
      return false;
    }
    behind = mark;
    auto leaf = cursor.record();
    if (!leaf) return leaf.error();
    leaves.push_back(std::move(*leaf));
    return content.sparse || mark < end;
  };
  // The leaf of the first byte is the grid's, or the first that ends behind it.
  const uint64_t first = content.sparse ? offset / kGridBytes * kGridBytes : offset + 1;
  uint64_t most = content.sparse ? length / kGridBytes + 2 : content.leaves;
  if (portion != nullptr) most = std::min<uint64_t>(most, portion->leaves);
  auto done = co_await see_leaves(store, place, content.id, first, most, see, deadline);
  if (!done) co_return done.error();
  if (auto same = co_await check_head(store, head); !same) co_return same.error();
  co_return std::move(leaves);
}

Task<store::Result<Pieces>> load(store::Store& store, const Place& place, const Content& content,
                                 uint64_t offset, uint64_t length, const store::Guard& head,
                                 Deadline deadline, Portion* portion) {
  Pieces pieces;
  if (portion != nullptr) portion->next = offset + length;
  if (content.id == 0 || length == 0) co_return pieces;
  auto leaves =
      co_await find_leaves(store, place, content, offset, length, head, deadline, portion);
  if (!leaves) co_return leaves.error();
  for (const auto& leaf : *leaves) {
    auto decoded = decode_pieces(*leaf);
    if (!decoded) co_return store::Error::kCorrupt;
    for (const auto& piece : *decoded) {
      if (piece.is_zeros() || piece.end() <= offset || piece.offset >= offset + length) continue;
      pieces.push_back(piece.part(offset, offset + length));
    }
  }
  co_return std::move(pieces);
}

}  // namespace kyanite::content
