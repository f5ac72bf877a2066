// Changing sparse content: leaf by leaf in place, or as a whole where that is too much for one
// commit.
#include <algorithm>
#include <map>
#include <utility>

#include "content/content.h"
#include "content/leaves.h"
#include "content/staged_leaves.h"

namespace kyanite::content {

namespace {

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

// Whether nothing of the leaf is left when the edit begins with it.
bool clears_all(const Edit& edit, uint64_t start) {
  return edit.pieces.empty() && edit.offset <= start && start + kGridBytes <= edit.end;
}

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
    auto piece = std::partition_point(each.pieces.begin(), each.pieces.end(),
                                      [&](const Piece& one) { return one.end() <= from; });
    for (; piece != each.pieces.end() && piece->offset < to; ++piece)
      fresh.push_back(piece->part(from, to));
    pieces = edit_leaf(pieces, from, to, fresh);
  }
  return pieces;
}

// The leaf as it is to be stored; null: there is nothing in it.
Task<store::Result<store::RecordPtr>> make_leaf(store::Store& store, uint64_t start,
                                                const store::RecordPtr& record,
                                                const std::vector<Edit>& edits) {
  auto pieces = edited(start, record, edits);
  if (!pieces) co_return pieces.error();
  if (pieces->empty()) co_return store::RecordPtr();
  if (inline_bytes_of(*pieces) > kInlineBytesPerGridLeaf) {
    if (auto moved = co_await move_to_runs(store, *pieces); !moved) co_return moved.error();
  }
  join_neighbours(*pieces);
  co_return to_leaf(*pieces);
}

// --- In place ---

// A leaf that is changed.
struct Touched {
  store::RecordPtr record;  // Null: zeros so far, or nothing of it is left anyway.
  bool exists = false;
};
// By where they begin.
using TouchedLeaves = std::map<uint64_t, Touched>;

// Adds the leaves that an edit touches, until there are more than `most`. One that only clears
// looks at those that exist, however large its range.
Task<store::Result<void>> add_touched(store::Store& store, const Place& place, uint64_t content_id,
                                      const Edit& edit, size_t most, TouchedLeaves& leaves) {
  const uint64_t first = edit.offset / kGridBytes * kGridBytes;
  if (!edit.pieces.empty()) {
    for (uint64_t start = first; start < edit.end && leaves.size() <= most; start += kGridBytes) {
      if (leaves.contains(start)) continue;
      auto record = co_await store.get(leaf_key(place, content_id, start));
      if (!record) co_return record.error();
      const bool exists = *record != nullptr;
      leaves.emplace(start, Touched{std::move(*record), exists});
    }
    co_return {};
  }
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const uint64_t start = leaf_mark(cursor.key());
    if (start >= edit.end) return false;
    Touched leaf{nullptr, true};
    if (!clears_all(edit, start)) {
      auto record = cursor.record();
      if (!record) return record.error();
      leaf.record = std::move(*record);
    }
    leaves.emplace(start, std::move(leaf));
    return leaves.size() <= most;
  };
  const uint64_t range = (edit.end - first) / kGridBytes + 1;
  co_return co_await see_leaves(store, place, content_id, first, range, see, {});
}

// --- As a whole ---

// Makes the content anew under another id, with all edits, a portion at a time. The leaves belong
// together if the head that names them is the same before and after, which its commit guards.
class Rebuilding {
 public:
  Rebuilding(store::Store& store, const Place& place, const Content& content,
             const std::vector<Edit>& edits, Deadline deadline)
      : store_(store),
        place_(place),
        content_(content),
        edits_(edits),
        deadline_(deadline),
        staged_(store, place, deadline) {}

  // The last portion becomes part of the commit. Returns the new id.
  Task<store::Result<uint64_t>> run(store::Commit& commit) {
    if (auto staged = co_await stage(); !staged) {
      co_await staged_.give_up();
      co_return staged.error();
    }
    staged_.finish(commit);
    co_return staged_.id();
  }

 private:
  Task<store::Result<void>> stage() {
    uint64_t from = 0;
    while (from < UINT64_MAX) {
      auto until = co_await load(from);
      if (!until) co_return until.error();
      if (auto added = co_await add(from, *until); !added) co_return added.error();
      from = *until;
    }
    co_return {};
  }

  // As many of the old leaves are in memory.
  static constexpr size_t kLoaded = 1000;

  // Loads the old leaves from `from` on of which something is left, up to where it says.
  Task<store::Result<uint64_t>> load(uint64_t from) {
    old_.clear();
    size_t bytes = 0;
    uint64_t until = UINT64_MAX;
    const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
      const uint64_t start = leaf_mark(cursor.key());
      const auto clears = [&](const Edit& each) { return clears_all(each, start); };
      if (std::any_of(edits_.begin(), edits_.end(), clears)) return true;
      auto record = cursor.record();
      if (!record) return record.error();
      bytes += (*record)->value.size();
      old_.emplace(start, std::move(*record));
      if (old_.size() < kLoaded && bytes < kMaxPortionBytes) return true;
      until = start + kGridBytes;
      return false;
    };
    auto seen = co_await see_leaves(store_, place_, content_.id, from, most_leaves(content_), see,
                                    deadline_);
    if (!seen) co_return seen.error();
    co_return until;
  }

  // The first leaf from `from` on that an edit writes to.
  uint64_t next_written(uint64_t from) const {
    uint64_t first = UINT64_MAX;
    for (const Edit& each : edits_) {
      if (each.pieces.empty() || each.end <= from) continue;
      first = std::min(first, std::max(from, each.offset) / kGridBytes * kGridBytes);
    }
    return first;
  }

  // Adds the leaves within [from, until), which both are where leaves begin.
  Task<store::Result<void>> add(uint64_t from, uint64_t until) {
    auto old = old_.begin();
    while (true) {
      const uint64_t kept = old == old_.end() ? UINT64_MAX : old->first;
      const uint64_t start = std::min(kept, next_written(from));
      if (start >= until) co_return {};
      store::RecordPtr before;
      if (start == kept) before = (old++)->second;
      auto leaf = co_await make_leaf(store_, start, before, edits_);
      if (!leaf) co_return leaf.error();
      if (*leaf != nullptr) staged_.add(start, std::move(*leaf));
      if (staged_.is_full()) {
        if (auto put = co_await staged_.put_portion(); !put) co_return put.error();
      }
      from = start + kGridBytes;
    }
  }

  store::Store& store_;
  const Place place_;
  const Content content_;
  const std::vector<Edit>& edits_;
  const Deadline deadline_;
  StagedLeaves staged_;
  std::map<uint64_t, store::RecordPtr> old_;
};

Task<store::Result<void>> rebuild(store::Store& store, store::Commit& commit, const Place& place,
                                  Content& content, const std::vector<Edit>& edits,
                                  Deadline deadline) {
  Rebuilding rebuilding(store, place, content, edits, deadline);
  auto id = co_await rebuilding.run(commit);
  if (!id) co_return id.error();
  content.id = *id;
  co_return {};
}

}  // namespace

Task<store::Result<void>> edit(store::Store& store, store::Commit& commit, const Place& place,
                               Content& content, const std::vector<Edit>& edits,
                               Deadline deadline) {
  CHECK(content.sparse);
  const bool writes = std::any_of(edits.begin(), edits.end(),
                                  [](const Edit& each) { return !each.pieces.empty(); });
  if (content.id == 0) {
    if (!writes) co_return {};
    content.id = new_content_id();
  }
  const size_t most = deadline.is_set() ? kMaxLeavesInPlace : SIZE_MAX;
  const size_t most_bytes = deadline.is_set() ? kMaxBytesInPlace : SIZE_MAX;
  TouchedLeaves leaves;
  for (const Edit& each : edits) {
    CHECK(each.offset <= each.end && each.end <= content.length);
    auto added = co_await add_touched(store, place, content.id, each, most, leaves);
    if (!added) co_return added.error();
    if (leaves.size() > most)
      co_return co_await rebuild(store, commit, place, content, edits, deadline);
  }
  const size_t before = commit.writes.size();
  size_t bytes = 0;
  for (const auto& [start, leaf] : leaves) {
    auto after = co_await make_leaf(store, start, leaf.record, edits);
    if (!after) co_return after.error();
    if (*after != nullptr) bytes += (*after)->value.size();
    if (*after != nullptr || leaf.exists)
      commit.put(leaf_key(place, content.id, start), std::move(*after));
    if (bytes <= most_bytes) continue;
    commit.writes.resize(before);
    co_return co_await rebuild(store, commit, place, content, edits, deadline);
  }
  co_return {};
}

Task<store::Result<void>> overwrite(store::Store& store, store::Commit& commit, const Place& place,
                                    Content& content, uint64_t offset, uint64_t length,
                                    const Pieces& pieces, Deadline deadline) {
  const std::vector<Edit> edits(1, Edit{offset, offset + length, pieces});
  co_return co_await edit(store, commit, place, content, edits, deadline);
}

}  // namespace kyanite::content
