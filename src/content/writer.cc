#include <utility>

#include "content/content.h"

namespace kyanite::content {

Task<store::Result<void>> Writer::add(Buffer chunk) {
  if (chunk.empty()) co_return {};
  const size_t together = pending_.size() + chunk.size();
  if (!pending_.empty() && together <= kChunkBytes) {
    if (pending_.room() < chunk.size()) {
      Buffer joined(together <= kInlineBytes ? kInlineBytes : kChunkBytes);
      joined.append(pending_.view());
      pending_ = std::move(joined);
    }
    pending_.append(chunk.view());
    co_return {};
  }
  Buffer full = std::exchange(pending_, std::move(chunk));
  if (full.empty() && pending_.size() == kChunkBytes) full = std::exchange(pending_, Buffer());
  if (full.empty()) co_return {};
  co_return co_await append(std::move(full));
}

Task<store::Result<void>> Writer::add_all(std::vector<Buffer> chunks) {
  std::vector<Buffer> full;
  for (Buffer& chunk : chunks) {
    if (pending_.empty() && chunk.size() == kChunkBytes) {
      full.push_back(std::move(chunk));
      continue;
    }
    if (!full.empty()) {
      auto appended = co_await append_all(std::move(full));
      if (!appended) co_return appended;
      full.clear();
    }
    auto added = co_await add(std::move(chunk));
    if (!added) co_return added;
  }
  if (full.empty()) co_return {};
  co_return co_await append_all(std::move(full));
}

Task<std::optional<Seal>> Writer::seal(Buffer& bytes) {
  if (cipher_ == nullptr) co_return std::nullopt;
  const Seal fresh = new_seal();
  co_await cipher_->apply(fresh, bytes.data(), bytes.size());
  co_return fresh;
}

Task<store::Result<void>> Writer::append(Buffer chunk) {
  std::vector<Buffer> one;
  one.push_back(std::move(chunk));
  co_return co_await append_all(std::move(one));
}

Task<store::Result<void>> Writer::append_all(std::vector<Buffer> chunks) {
  Pieces pieces;
  uint64_t end = length_;
  for (Buffer& chunk : chunks) {
    Piece& piece = pieces.emplace_back();
    piece.offset = end;
    piece.length = static_cast<uint32_t>(chunk.size());
    piece.seal = co_await seal(chunk);
    end = piece.end();
  }
  auto refs = co_await store_.append_all(std::move(chunks));
  if (!refs) co_return refs.error();
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].ref = (*refs)[i];
    pieces_.push_back(std::move(pieces[i]));
  }
  length_ = end;
  co_return {};
}

Task<store::Result<Pieces>> Writer::finish() {
  if (!pending_.empty() && (length_ > 0 || pending_.size() > kInlineBytes)) {
    auto appended = co_await append(std::exchange(pending_, Buffer()));
    if (!appended) co_return appended.error();
  } else if (!pending_.empty()) {
    Piece piece;
    piece.length = static_cast<uint32_t>(pending_.size());
    piece.seal = co_await seal(pending_);
    piece.inline_bytes.assign(pending_.view());
    pieces_.push_back(std::move(piece));
    pending_ = Buffer();
  }
  co_return std::move(pieces_);
}

}  // namespace kyanite::content
