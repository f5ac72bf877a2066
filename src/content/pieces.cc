#include <algorithm>

#include "base/bytes.h"
#include "content/content.h"

namespace kyanite::content {

// A list of pieces on disk: format byte, first offset, then for each piece: kind, length, the seal
// where it is encrypted, and for a run the bytes to skip (its ref is the next of the record's
// refs), for an inline piece the bytes. Pieces lie end to end.
namespace {
constexpr char kFormat = 1;
constexpr uint64_t kInline = 0;
constexpr uint64_t kRun = 1;
constexpr uint64_t kZeros = 2;
constexpr uint64_t kSealed = 4;  // added to kInline or kRun

bool read_seal(std::string_view& in, uint64_t length, Seal& seal) {
  uint64_t skip = 0;
  if (in.size() < seal.nonce.size()) return false;
  std::copy_n(in.begin(), seal.nonce.size(), seal.nonce.begin());
  in.remove_prefix(seal.nonce.size());
  if (!read_varint(in, skip) || skip > UINT32_MAX - length) return false;
  seal.skip = static_cast<uint32_t>(skip);
  return true;
}

bool read_run(std::string_view& in, const store::Record& record, size_t& next_ref, Piece& piece) {
  uint64_t skip = 0;
  if (!read_varint(in, skip) || next_ref == record.refs.size()) return false;
  piece.ref = record.refs[next_ref++];
  if (piece.length > piece.ref->length || skip > piece.ref->length - piece.length) return false;
  piece.skip = static_cast<uint32_t>(skip);
  return true;
}

bool read_inline(std::string_view& in, Piece& piece) {
  if (piece.length > in.size()) return false;
  piece.inline_bytes.assign(in.substr(0, piece.length));
  in.remove_prefix(piece.length);
  return true;
}
}  // namespace

Piece Piece::part(uint64_t from, uint64_t to) const {
  Piece piece;
  piece.offset = std::max(from, offset);
  piece.length = static_cast<uint32_t>(std::min(to, end()) - piece.offset);
  const auto inside = static_cast<uint32_t>(piece.offset - offset);
  if (ref) {
    piece.ref = ref;
    piece.skip = skip + inside;
  } else if (!inline_bytes.empty()) {
    piece.inline_bytes = inline_bytes.substr(inside, piece.length);
  }
  if (seal) piece.seal = Seal{seal->nonce, seal->skip + inside};
  return piece;
}

Task<store::Result<bool>> same_write(store::Store& store, const Piece& one, const Piece& other) {
  if (one.length != other.length || one.seal != other.seal) co_return false;
  if (one.ref.has_value() == other.ref.has_value())
    co_return one.ref == other.ref&& one.skip == other.skip&& one.inline_bytes ==
        other.inline_bytes;
  const Piece& run = one.ref ? one : other;
  const Piece& held = one.ref ? other : one;
  if (held.is_zeros()) co_return false;
  auto bytes = co_await store.read_run(*run.ref, run.skip, run.length, false);
  if (!bytes) co_return bytes.error();
  co_return std::get<Buffer>(*bytes).view() == held.inline_bytes;
}

uint64_t length_of(const Pieces& pieces) { return pieces.empty() ? 0 : pieces.back().end(); }

void encode_pieces(const Pieces& pieces, store::Record& record) {
  record.value.push_back(kFormat);
  append_varint(record.value, pieces.empty() ? 0 : pieces.front().offset);
  for (const auto& piece : pieces) {
    const uint64_t kind = piece.ref ? kRun : piece.is_zeros() ? kZeros : kInline;
    append_varint(record.value, piece.seal ? kind + kSealed : kind);
    append_varint(record.value, piece.length);
    if (piece.seal) {
      CHECK(kind != kZeros);
      record.value.append(piece.seal->nonce.data(), piece.seal->nonce.size());
      append_varint(record.value, piece.seal->skip);
    }
    if (piece.ref) {
      append_varint(record.value, piece.skip);
      record.refs.push_back(*piece.ref);
    } else if (!piece.is_zeros()) {
      CHECK(piece.inline_bytes.size() == piece.length);
      record.value += piece.inline_bytes;
    }
  }
}

std::optional<Pieces> decode_pieces(const store::Record& record) {
  std::string_view in = record.value;
  uint64_t offset = 0;
  if (in.empty() || in.front() != kFormat) return {};
  in.remove_prefix(1);
  if (!read_varint(in, offset)) return {};
  Pieces pieces;
  size_t next_ref = 0;
  while (!in.empty()) {
    uint64_t kind = 0;
    uint64_t length = 0;
    if (!read_varint(in, kind) || !read_varint(in, length) || length > UINT32_MAX ||
        length > UINT64_MAX - offset) {
      return {};
    }
    auto& piece = pieces.emplace_back();
    piece.offset = offset;
    piece.length = static_cast<uint32_t>(length);
    offset += length;
    if (kind >= kSealed) {
      kind -= kSealed;
      if (length == 0 || !read_seal(in, length, piece.seal.emplace())) return {};
    }
    if (kind == kRun) {
      if (!read_run(in, record, next_ref, piece)) return {};
    } else if (kind == kInline) {
      if (!read_inline(in, piece)) return {};
    } else if (kind != kZeros || piece.seal) {
      return {};
    }
  }
  return pieces;
}

}  // namespace kyanite::content
