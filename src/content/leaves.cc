#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "content/content.h"

namespace kyanite::content {

namespace {
std::string leaf_row(uint64_t content_id, uint64_t offset) {
  std::string row;
  append_be64(row, content_id);
  append_be64(row, offset);
  return row;
}

std::string content_row_prefix(uint64_t content_id) {
  std::string row;
  append_be64(row, content_id);
  return row;
}
}  // namespace

Content put(store::Commit& commit, store::SpaceId space, std::string_view partition,
            const Pieces& pieces) {
  Content content;
  content.length = length_of(pieces);
  if (pieces.empty()) return content;
  do {
    content.id = random_u64();
  } while (content.id == 0);
  for (size_t first = 0; first < pieces.size(); first += kPiecesPerLeaf) {
    const size_t last = std::min(first + kPiecesPerLeaf, pieces.size());
    auto leaf = std::make_shared<store::Record>();
    encode_pieces(
        Pieces(pieces.begin() + static_cast<long>(first), pieces.begin() + static_cast<long>(last)),
        *leaf);
    commit.writes.push_back(
        {store::Key(space, kContentFamily, partition, leaf_row(content.id, pieces[first].offset)),
         std::move(leaf)});
    ++content.leaves;
  }
  return content;
}

Task<store::Result<void>> remove(store::Store& store, store::Commit& commit, store::SpaceId space,
                                 std::string_view partition, Content content) {
  if (content.leaves == 1) {
    commit.writes.push_back(
        {store::Key(space, kContentFamily, partition, leaf_row(content.id, 0)), nullptr});
    co_return {};
  }
  if (content.leaves == 0) co_return {};
  const auto range =
      store::Range::rows(space, kContentFamily, partition, content_row_prefix(content.id));
  auto& writes = commit.writes;
  co_return co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      writes.push_back({store::Key::from_bytes(std::string(cursor->key())), nullptr});
    }
    return cursor->status();
  });
}

Task<store::Result<std::unique_ptr<Reader>>> Reader::open(store::Store& store, store::SpaceId space,
                                                          std::string_view partition,
                                                          Content content, uint64_t offset,
                                                          uint64_t length) {
  std::unique_ptr<Reader> reader(new Reader(store));
  reader->at_ = offset;
  reader->end_ = offset + length;
  CHECK(reader->end_ <= content.length);
  if (length == 0) co_return std::move(reader);
  if (content.leaves == 1) {
    auto leaf =
        co_await store.get(store::Key(space, kContentFamily, partition, leaf_row(content.id, 0)));
    if (!leaf) co_return leaf.error();
    // Gone: the content was replaced after the head was read.
    if (*leaf == nullptr) co_return store::Error::kConflict;
    reader->leaves_.push_back(std::move(*leaf));
    co_return std::move(reader);
  }
  const auto range =
      store::Range::rows(space, kContentFamily, partition, content_row_prefix(content.id));
  uint64_t seen = 0;
  auto done = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      const uint64_t first = read_be64(cursor->key().data() + cursor->key().size() - 8);
      ++seen;
      if (first >= reader->end_) continue;
      // A leaf before the range is dropped once a later one is known to start at or before it.
      if (first <= offset) reader->leaves_.clear();
      auto leaf = cursor->record();
      if (!leaf) return leaf.error();
      reader->leaves_.push_back(std::move(*leaf));
    }
    return cursor->status();
  });
  if (!done) co_return done.error();
  if (seen != content.leaves) co_return store::Error::kConflict;
  co_return std::move(reader);
}

std::optional<Reader::Shared> Reader::whole() const {
  if (leaves_.size() != 1 || !leaves_.front()->refs.empty()) return {};
  // One inline piece: its bytes are the tail of the value.
  const auto& value = leaves_.front()->value;
  auto pieces = decode_pieces(*leaves_.front());
  if (!pieces || pieces->size() != 1) return {};
  const auto& piece = pieces->front();
  if (at_ < piece.offset || end_ > piece.offset + piece.length) return {};
  const std::string_view bytes = std::string_view(value).substr(value.size() - piece.length);
  return Shared{leaves_.front(), bytes.substr(at_ - piece.offset, end_ - at_)};
}

Task<store::Result<os::Bytes>> Reader::next(bool prefer_file) {
  while (at_ < end_) {
    if (piece_ == pieces_.size()) {
      if (leaf_ == leaves_.size()) co_return store::Error::kCorrupt;
      auto pieces = decode_pieces(*leaves_[leaf_++]);
      if (!pieces) co_return store::Error::kCorrupt;
      pieces_ = std::move(*pieces);
      piece_ = 0;
      continue;
    }
    const Piece& piece = pieces_[piece_++];
    const uint64_t piece_end = piece.offset + piece.length;
    if (piece_end <= at_) continue;
    if (piece.offset > at_) co_return store::Error::kCorrupt;  // Bytes are missing in between.
    const uint64_t from = at_ - piece.offset;
    const uint64_t count = std::min(piece_end, end_) - at_;
    at_ += count;
    if (!piece.ref)
      co_return os::Bytes(
          Buffer::copy_of(std::string_view(piece.inline_bytes).substr(from, count)));
    co_return co_await store_.read(*piece.ref, static_cast<uint32_t>(piece.skip + from),
                                   static_cast<uint32_t>(count), prefer_file);
  }
  co_return os::Bytes(Buffer());
}

Task<store::Result<void>> Writer::add(Buffer chunk) {
  if (chunk.empty()) co_return {};
  if (length_ == 0 && first_.empty() && chunk.size() <= kInlineBytes) {
    first_ = std::move(chunk);
    co_return {};
  }
  if (!first_.empty()) {
    if (first_.size() + chunk.size() <= kInlineBytes) {
      Buffer joined(kInlineBytes);
      joined.append(first_.view());
      joined.append(chunk.view());
      first_ = std::move(joined);
      co_return {};
    }
    if (auto done = co_await append(std::exchange(first_, Buffer())); !done) co_return done.error();
  }
  co_return co_await append(std::move(chunk));
}

Task<store::Result<void>> Writer::append(Buffer chunk) {
  const auto size = static_cast<uint32_t>(chunk.size());
  auto ref = co_await store_.append(std::move(chunk));
  if (!ref) co_return ref.error();
  Piece piece;
  piece.offset = length_;
  piece.length = size;
  piece.ref = *ref;
  pieces_.push_back(std::move(piece));
  length_ += size;
  co_return {};
}

Task<store::Result<Pieces>> Writer::finish() {
  if (!first_.empty()) {
    Piece piece;
    piece.length = static_cast<uint32_t>(first_.size());
    piece.inline_bytes.assign(first_.view());
    pieces_.push_back(std::move(piece));
    first_ = Buffer();
  }
  co_return std::move(pieces_);
}

}  // namespace kyanite::content
