// Leaves: making, changing, copying and removing them.
#include "content/leaves.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "content/content.h"

namespace kyanite::content {

namespace {

// kConflict unless the head still is as expected.
store::Result<void> check_head(const store::View& view, const store::Guard& head) {
  auto found = view.get(head.key);
  if (!found) return found.error();
  if (!is_expected(*found, head)) return store::Error::kConflict;
  return {};
}

uint64_t new_content_id() {
  uint64_t id = 0;
  while (id == 0) id = random_u64();
  return id;
}

void put_leaf(store::Commit& commit, store::Key key, const Pieces& pieces) {
  auto leaf = std::make_shared<store::Record>();
  encode_pieces(pieces, *leaf);
  commit.writes.push_back({std::move(key), std::move(leaf)});
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

struct GridLeaf {
  uint64_t start = 0;
  store::RecordPtr record;  // null: zeros so far
};

// The leaves that a write to [offset, end) touches. A clear only looks at those that exist, however
// large its range.
Task<store::Result<std::vector<GridLeaf>>> touched_leaves(store::Store& store, const Place& place,
                                                          uint64_t content_id, uint64_t offset,
                                                          uint64_t end, bool clear) {
  std::vector<GridLeaf> leaves;
  const uint64_t first = offset / kGridBytes * kGridBytes;
  if (!clear) {
    for (uint64_t start = first; start < end; start += kGridBytes) {
      auto record = co_await store.get(leaf_key(place, content_id, start));
      if (!record) co_return record.error();
      leaves.push_back({start, std::move(*record)});
    }
    co_return std::move(leaves);
  }
  auto done = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(leaf_range(place, content_id));
    for (cursor->seek(leaf_key(place, content_id, first).bytes()); cursor->valid();
         cursor->next()) {
      const uint64_t start = leaf_mark(cursor->key());
      if (start >= end) break;
      auto record = cursor->record();
      if (!record) return record.error();
      leaves.push_back({start, std::move(*record)});
    }
    return cursor->status();
  });
  if (!done) co_return done.error();
  co_return std::move(leaves);
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

Task<store::Result<void>> overwrite(store::Store& store, store::Commit& commit, const Place& place,
                                    Content& content, uint64_t offset, uint64_t length,
                                    const Pieces& pieces) {
  CHECK(content.sparse && offset + length <= content.length);
  if (content.id == 0) {
    if (pieces.empty()) co_return {};
    content.id = new_content_id();
  }
  const uint64_t end = offset + length;
  auto leaves = co_await touched_leaves(store, place, content.id, offset, end, pieces.empty());
  if (!leaves) co_return leaves.error();
  for (const auto& leaf : *leaves) {
    Pieces before;
    if (leaf.record != nullptr) {
      auto decoded = decode_pieces(*leaf.record);
      if (!decoded) co_return store::Error::kCorrupt;
      before = std::move(*decoded);
    }
    const uint64_t from = std::max(leaf.start, offset);
    const uint64_t to = std::min(leaf.start + kGridBytes, end);
    Pieces fresh;
    for (const auto& piece : pieces) {
      if (piece.offset < to && piece.end() > from) fresh.push_back(piece.part(from, to));
    }
    Pieces after = edit_leaf(before, from, to, fresh);
    if (inline_bytes_of(after) > kInlineBytesPerGridLeaf) {
      if (auto moved = co_await move_to_runs(store, after); !moved) co_return moved.error();
    }
    join_neighbours(after);
    if (!after.empty()) {
      put_leaf(commit, leaf_key(place, content.id, leaf.start), after);
    } else if (leaf.record != nullptr) {
      commit.writes.push_back({leaf_key(place, content.id, leaf.start), nullptr});
    }
  }
  co_return {};
}

Task<store::Result<Content>> copy(store::Store& store, store::Commit& commit, const Place& from,
                                  const Content& content, const Place& to,
                                  const store::Guard& head) {
  Content copied = content;
  if (content.id == 0) co_return copied;
  copied.id = new_content_id();
  copied.leaves = 0;
  auto done = co_await store.read([&](const store::View& view) -> store::Result<void> {
    if (auto same = check_head(view, head); !same) return same.error();
    auto cursor = view.scan(leaf_range(from, content.id));
    for (; cursor->valid(); cursor->next()) {
      const uint64_t mark = leaf_mark(cursor->key());
      // What was appended after the state that this head names.
      if (!content.sparse && mark > content.length) break;
      auto leaf = cursor->record();
      if (!leaf) return leaf.error();
      commit.writes.push_back({leaf_key(to, copied.id, mark), *leaf});
      ++copied.leaves;
    }
    return cursor->status();
  });
  if (!done) co_return done.error();
  if (content.sparse) copied.leaves = 0;
  if (copied.leaves != content.leaves) co_return store::Error::kCorrupt;
  co_return copied;
}

Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, const Place& place,
                                 const Content& content) {
  if (content.id == 0) co_return {};
  if (content.leaves == 1) {
    commit.writes.push_back({only_leaf_key(place, content), nullptr});
    co_return {};
  }
  co_return co_await remove_all(store, commit, place, content.id);
}

Task<store::Result<void>> remove_all(store::Store& store, store::Commit& commit, const Place& place,
                                     uint64_t content_id) {
  auto& writes = commit.writes;
  co_return co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(leaf_range(place, content_id));
    for (; cursor->valid(); cursor->next()) {
      writes.push_back({store::Key::from_bytes(std::string(cursor->key())), nullptr});
    }
    return cursor->status();
  });
}

store::Result<std::vector<store::RecordPtr>> find_leaves(const store::View& view,
                                                         const Place& place, const Content& content,
                                                         uint64_t offset, uint64_t length,
                                                         const store::Guard& head) {
  std::vector<store::RecordPtr> leaves;
  if (auto same = check_head(view, head); !same) return same.error();
  const uint64_t end = offset + length;
  auto cursor = view.scan(leaf_range(place, content.id));
  // The leaf of the first byte is the grid's, or the first that ends behind it.
  const uint64_t first = content.sparse ? offset / kGridBytes * kGridBytes : offset + 1;
  for (cursor->seek(leaf_key(place, content.id, first).bytes()); cursor->valid(); cursor->next()) {
    const uint64_t mark = leaf_mark(cursor->key());
    if (content.sparse && mark >= end) break;
    auto leaf = cursor->record();
    if (!leaf) return leaf.error();
    leaves.push_back(std::move(*leaf));
    if (!content.sparse && mark >= end) break;
  }
  if (auto status = cursor->status(); !status) return status.error();
  return leaves;
}

Task<store::Result<Pieces>> load(store::Store& store, const Place& place, const Content& content,
                                 uint64_t offset, uint64_t length, const store::Guard& head) {
  Pieces pieces;
  if (content.id == 0 || length == 0) co_return pieces;
  auto done = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto leaves = find_leaves(view, place, content, offset, length, head);
    if (!leaves) return leaves.error();
    for (const auto& leaf : *leaves) {
      auto decoded = decode_pieces(*leaf);
      if (!decoded) return store::Error::kCorrupt;
      for (const auto& piece : *decoded) {
        if (piece.is_zeros() || piece.end() <= offset || piece.offset >= offset + length) continue;
        pieces.push_back(piece.part(offset, offset + length));
      }
    }
    return {};
  });
  if (!done) co_return done.error();
  co_return std::move(pieces);
}

}  // namespace kyanite::content
