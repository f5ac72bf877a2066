#include <algorithm>
#include <cstring>
#include <utility>

#include "content/leaves.h"

namespace kyanite::content {

Task<store::Result<std::unique_ptr<Reader>>> Reader::open(store::Store& store, const Place& place,
                                                          const Content& content, uint64_t offset,
                                                          uint64_t length, const store::Guard& head,
                                                          CipherPtr cipher) {
  std::unique_ptr<Reader> reader(new Reader(store));
  reader->cipher_ = std::move(cipher);
  reader->at_ = offset;
  reader->end_ = offset + length;
  reader->sparse_ = content.sparse;
  CHECK(reader->end_ <= content.length);
  if (length == 0 || content.id == 0) co_return std::move(reader);
  if (content.leaves == 1 && !content.sparse) {
    // The usual case, and the only leaf never changes: no snapshot is needed.
    auto leaf = co_await store.get(only_leaf_key(place, content));
    if (!leaf) co_return leaf.error();
    if (*leaf == nullptr) co_return store::Error::kConflict;
    reader->leaves_.push_back(std::move(*leaf));
    co_return std::move(reader);
  }
  const uint64_t grid = offset / kGridBytes;
  if (content.sparse && (offset + length - 1) / kGridBytes == grid) {
    // A write to a leaf changes the head in the same commit, and no head ever comes back. So a head
    // that is still the same after its leaf was read names just this leaf: no snapshot is needed.
    auto leaf = co_await store.get(leaf_key(place, content.id, grid * kGridBytes));
    if (!leaf) co_return leaf.error();
    auto now = co_await store.get(head.key);
    if (!now) co_return now.error();
    if (!is_expected(*now, head)) co_return store::Error::kConflict;
    if (*leaf != nullptr) reader->leaves_.push_back(std::move(*leaf));
    co_return std::move(reader);
  }
  auto leaves = co_await find_leaves(store, place, content, offset, length, head, {});
  if (!leaves) co_return leaves.error();
  reader->leaves_ = std::move(*leaves);
  co_return std::move(reader);
}

std::optional<Reader::Shared> Reader::whole() const {
  if (leaves_.size() != 1 || !leaves_.front()->refs.empty()) return {};
  // One inline piece: its bytes are the tail of the value.
  const auto& value = leaves_.front()->value;
  auto pieces = decode_pieces(*leaves_.front());
  if (!pieces || pieces->size() != 1) return {};
  const auto& piece = pieces->front();
  if (piece.is_zeros() || piece.seal) return {};
  if (at_ < piece.offset || end_ > piece.end()) return {};
  const std::string_view bytes = std::string_view(value).substr(value.size() - piece.length);
  return Shared{leaves_.front(), bytes.substr(at_ - piece.offset, end_ - at_)};
}

store::Result<bool> Reader::find_piece() {
  while (true) {
    while (piece_ < pieces_.size() && pieces_[piece_].end() <= at_) ++piece_;
    if (piece_ < pieces_.size()) return true;
    if (leaf_ == leaves_.size()) return false;
    auto pieces = decode_pieces(*leaves_[leaf_++]);
    if (!pieces) return store::Error::kCorrupt;
    pieces_ = std::move(*pieces);
    piece_ = 0;
  }
}

store::Result<uint64_t> Reader::end_of_zeros() {
  auto found = find_piece();
  if (!found) return found.error();
  const Piece* piece = *found ? &pieces_[piece_] : nullptr;
  // Only sparse content may have bytes that no piece holds.
  if (!sparse_ && (piece == nullptr || piece->offset > at_)) return store::Error::kCorrupt;
  if (piece == nullptr) return end_;
  if (piece->offset > at_) return std::min(end_, piece->offset);
  return piece->is_zeros() ? std::min(end_, piece->end()) : at_;
}

store::Result<uint64_t> Reader::skip_zeros() {
  const uint64_t from = at_;
  while (at_ < end_) {
    auto zeros = end_of_zeros();
    if (!zeros) return zeros.error();
    if (*zeros == at_) break;
    at_ = *zeros;
  }
  return at_ - from;
}

Task<store::Result<os::Bytes>> Reader::next(bool prefer_file) {
  if (at_ == end_) co_return os::Bytes(Buffer());
  auto stop = end_of_zeros();
  if (!stop) co_return stop.error();
  if (*stop > at_) {
    const uint64_t count = std::min<uint64_t>(*stop - at_, kChunkBytes);
    Buffer zeros(count);
    zeros.resize(count);
    std::memset(zeros.data(), 0, count);
    at_ += count;
    co_return os::Bytes(std::move(zeros));
  }
  const Piece part = pieces_[piece_].part(at_, end_);
  at_ = part.end();
  co_return co_await read_piece(part, prefer_file);
}

Task<store::Result<os::Bytes>> Reader::read_piece(const Piece& piece, bool prefer_file) {
  if (!piece.seal) {
    if (!piece.ref) co_return os::Bytes(Buffer::copy_of(piece.inline_bytes));
    co_return co_await store_.read_run(*piece.ref, piece.skip, piece.length, prefer_file);
  }
  if (cipher_ == nullptr) co_return store::Error::kCorrupt;
  Buffer bytes;
  if (piece.ref) {
    auto stored = co_await store_.read_run(*piece.ref, piece.skip, piece.length, false);
    if (!stored) co_return stored.error();
    bytes = std::move(std::get<Buffer>(*stored));
  } else {
    bytes = Buffer::copy_of(piece.inline_bytes);
  }
  co_await cipher_->apply(*piece.seal, bytes.data(), bytes.size());
  co_return os::Bytes(std::move(bytes));
}

}  // namespace kyanite::content
