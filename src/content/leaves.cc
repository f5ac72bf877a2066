// Leaves: making, changing, copying and removing them.
#include "content/leaves.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/random.h"
#include "content/content.h"
#include "content/graves.h"

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

// Shows leaves from a mark on, over one snapshot, until `see` has seen enough. `most` is how many
// there may be.
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

// How many leaves a content may have.
uint64_t most_leaves(const Content& content) {
  return content.sparse ? content.length / kGridBytes + 1 : content.leaves;
}

uint64_t new_content_id() {
  uint64_t id = 0;
  while (id == 0) id = random_u64();
  return id;
}

void put_leaf(store::Commit& commit, store::Key key, const Pieces& pieces) {
  auto leaf = std::make_shared<store::SharedRecord>();
  encode_pieces(pieces, *leaf);
  commit.put(std::move(key), std::move(leaf));
}

// The pieces of one leaf of sparse content after [from, to) was replaced by `fresh` (which lie
// within it). Gaps are written as zeros, none at the ends.
Pieces edit_leaf(const Pieces& before, uint64_t from, uint64_t to, const Pieces& fresh) {
  Pieces parts;
  for (const auto& piece : before) {
    if (!piece.is_zeros() && piece.offset < from) parts.push_back(piece.part(0, from));
  }
  parts.insert(parts.end(), fresh.begin(), fresh.end());
  for (const auto& piece : before) {
    if (!piece.is_zeros() && piece.end() > to) parts.push_back(piece.part(to, UINT64_MAX));
  }
  Pieces after;
  for (auto& part : parts) {
    if (!after.empty() && after.back().end() < part.offset) {
      Piece zeros;
      zeros.offset = after.back().end();
      zeros.length = static_cast<uint32_t>(part.offset - zeros.offset);
      after.push_back(std::move(zeros));
    }
    after.push_back(std::move(part));
  }
  return after;
}

}  // namespace

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
  content::put_leaf(commit_, leaf_key(place_, content_.id, content_.length), leaf_);
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

// Leaves by where they begin; null: zeros so far.
using GridLeaves = std::map<uint64_t, store::RecordPtr>;

// Adds the leaves that an edit touches. One that only clears looks at those that exist, however
// large its range.
Task<store::Result<void>> add_touched(store::Store& store, const Place& place, uint64_t content_id,
                                      const Edit& edit, GridLeaves& leaves) {
  const uint64_t first = edit.offset / kGridBytes * kGridBytes;
  if (!edit.pieces.empty()) {
    for (uint64_t start = first; start < edit.end; start += kGridBytes) {
      if (leaves.contains(start)) continue;
      auto record = co_await store.get(leaf_key(place, content_id, start));
      if (!record) co_return record.error();
      leaves.emplace(start, std::move(*record));
    }
    co_return {};
  }
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const uint64_t start = leaf_mark(cursor.key());
    if (start >= edit.end) return false;
    auto record = cursor.record();
    if (!record) return record.error();
    leaves.emplace(start, std::move(*record));
    return true;
  };
  const uint64_t most = (edit.end - first) / kGridBytes + 1;
  co_return co_await see_leaves(store, place, content_id, first, most, see, {});
}

size_t inline_bytes_of(const Pieces& pieces) {
  size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.inline_bytes.size();
  return bytes;
}

// Moves what pieces hold inline to runs, as few as can hold it.
Task<store::Result<void>> move_to_runs(store::Store& store, Pieces& pieces) {
  for (size_t first = 0; first < pieces.size();) {
    Buffer run(kChunkBytes);
    size_t end = first;
    while (end < pieces.size() && pieces[end].inline_bytes.size() <= run.room())
      run.append(pieces[end++].inline_bytes);
    if (run.empty()) break;
    auto ref = co_await store.append(std::move(run));
    if (!ref) co_return ref.error();
    uint32_t skip = 0;
    for (; first < end; ++first) {
      auto& piece = pieces[first];
      if (piece.inline_bytes.empty()) continue;
      piece.ref = *ref;
      piece.skip = skip;
      skip += piece.length;
      piece.inline_bytes.clear();
    }
  }
  co_return {};
}

// Joins neighbours that are neighbours in their run as well.
void join_neighbours(Pieces& pieces) {
  Pieces joined;
  for (auto& piece : pieces) {
    if (!joined.empty()) {
      auto& last = joined.back();
      if (last.ref && last.ref == piece.ref && !last.seal && !piece.seal &&
          last.skip + last.length == piece.skip) {
        last.length += piece.length;
        continue;
      }
    }
    joined.push_back(std::move(piece));
  }
  pieces = std::move(joined);
}

}  // namespace

namespace {

// The pieces of one leaf after all edits.
store::Result<Pieces> edited(uint64_t start, const store::RecordPtr& record,
                             const std::vector<Edit>& edits) {
  Pieces pieces;
  if (record != nullptr) {
    auto decoded = decode_pieces(*record);
    if (!decoded) return store::Error::kCorrupt;
    pieces = std::move(*decoded);
  }
  for (const Edit& each : edits) {
    const uint64_t from = std::max(start, each.offset);
    const uint64_t to = std::min(start + kGridBytes, each.end);
    if (from >= to) continue;
    Pieces fresh;
    for (const auto& piece : each.pieces) {
      if (piece.offset < to && piece.end() > from) fresh.push_back(piece.part(from, to));
    }
    pieces = edit_leaf(pieces, from, to, fresh);
  }
  return pieces;
}

}  // namespace

Task<store::Result<void>> edit(store::Store& store, store::Commit& commit, const Place& place,
                               Content& content, const std::vector<Edit>& edits) {
  CHECK(content.sparse);
  const bool writes = std::any_of(edits.begin(), edits.end(),
                                  [](const Edit& each) { return !each.pieces.empty(); });
  if (content.id == 0) {
    if (!writes) co_return {};
    content.id = new_content_id();
  }
  GridLeaves leaves;
  for (const Edit& each : edits) {
    CHECK(each.offset <= each.end && each.end <= content.length);
    auto added = co_await add_touched(store, place, content.id, each, leaves);
    if (!added) co_return added.error();
  }
  for (const auto& [start, record] : leaves) {
    auto after = edited(start, record, edits);
    if (!after) co_return after.error();
    if (inline_bytes_of(*after) > kInlineBytesPerGridLeaf) {
      if (auto moved = co_await move_to_runs(store, *after); !moved) co_return moved.error();
    }
    join_neighbours(*after);
    if (!after->empty()) {
      put_leaf(commit, leaf_key(place, content.id, start), *after);
    } else if (record != nullptr) {
      commit.remove(leaf_key(place, content.id, start));
    }
  }
  co_return {};
}

Task<store::Result<void>> overwrite(store::Store& store, store::Commit& commit, const Place& place,
                                    Content& content, uint64_t offset, uint64_t length,
                                    const Pieces& pieces) {
  const std::vector<Edit> edits(1, Edit{offset, offset + length, pieces});
  co_return co_await edit(store, commit, place, content, edits);
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
        to_(to),
        deadline_(deadline),
        id_(new_content_id()) {}

  // The last portion becomes part of the commit.
  Task<store::Result<Content>> run(store::Commit& commit) {
    const store::See see = [&](const store::View::Cursor& cursor) { return take(cursor); };
    while (true) {
      auto seen = co_await see_leaves(store_, from_, content_.id, next_, most_leaves(content_), see,
                                      deadline_);
      if (!seen) co_return seen.error();
      if (!is_full()) break;
      if (auto put = co_await put_portion(); !put) co_return put.error();
    }
    std::move(portion_.begin(), portion_.end(), std::back_inserter(commit.writes));
    if (grave_ != nullptr) {
      commit.expect(grave_key(to_, id_), grave_);
      commit.remove(grave_key(to_, id_));
    }
    Content copied = content_;
    copied.id = id_;
    copied.leaves = content_.sparse ? 0 : count_;
    co_return copied;
  }

 private:
  // Without a time there is none at which a grave could be due: then all is one portion.
  bool is_full() const { return portion_.size() >= kMaxLeavesPerCommit && deadline_.is_set(); }

  store::Result<bool> take(const store::View::Cursor& cursor) {
    const uint64_t mark = leaf_mark(cursor.key());
    // What was appended after the state that this head names.
    if (!content_.sparse && mark > content_.length) return false;
    auto leaf = cursor.record();
    if (!leaf) return leaf.error();
    portion_.push_back({leaf_key(to_, id_, mark), *leaf});
    ++count_;
    next_ = mark + 1;
    return !is_full();
  }

  Task<store::Result<void>> put_portion() {
    if (grave_ == nullptr) {
      auto grave = to_record(Grave{id_, after_seconds(deadline_.date(), kDraftSeconds)});
      store::Commit dig;
      dig.expect_absent(grave_key(to_, id_));
      dig.put(grave_key(to_, id_), grave);
      if (auto dug = co_await store_.commit(std::move(dig)); !dug) co_return dug.error();
      grave_ = std::move(grave);
    }
    store::Commit commit;
    commit.expect(grave_key(to_, id_), grave_);
    commit.writes = std::exchange(portion_, {});
    co_return co_await store_.commit(std::move(commit));
  }

  store::Store& store_;
  const Place from_;
  const Content content_;
  const Place to_;
  const Deadline deadline_;
  const uint64_t id_;
  std::vector<store::Write> portion_;
  store::RecordPtr grave_;  // Null while one commit is enough.
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
