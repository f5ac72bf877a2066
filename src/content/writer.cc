#include <utility>

#include "content/content.h"

namespace kyanite::content {

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
