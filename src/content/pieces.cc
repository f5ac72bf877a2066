#include <algorithm>

#include "base/bytes.h"
#include "content/content.h"

namespace kyanite::content {

// A list of pieces on disk: format byte, first offset, then for each piece: kind, length, and for a
// run the bytes to skip (its ref is the next of the record's refs), for an inline piece the bytes.
// Pieces lie end to end.
namespace {
constexpr char kFormat = 1;
constexpr uint64_t kInline = 0;
constexpr uint64_t kRun = 1;
constexpr uint64_t kZeros = 2;
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
  return piece;
}

bool Piece::same_bytes(const Piece& other) const {
  if (length != other.length || ref != other.ref || skip != other.skip) return false;
  return inline_bytes == other.inline_bytes;
}

uint64_t length_of(const Pieces& pieces) { return pieces.empty() ? 0 : pieces.back().end(); }

void encode_pieces(const Pieces& pieces, store::Record& record) {
  record.value.push_back(kFormat);
  append_varint(record.value, pieces.empty() ? 0 : pieces.front().offset);
  for (const auto& piece : pieces) {
    append_varint(record.value, piece.ref ? kRun : piece.is_zeros() ? kZeros : kInline);
    append_varint(record.value, piece.length);
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
    if (kind == kRun) {
      uint64_t skip = 0;
      if (!read_varint(in, skip) || next_ref == record.refs.size()) return {};
      piece.ref = record.refs[next_ref++];
      if (length > piece.ref->length || skip > piece.ref->length - length) return {};
      piece.skip = static_cast<uint32_t>(skip);
    } else if (kind == kInline) {
      if (length > in.size()) return {};
      piece.inline_bytes.assign(in.substr(0, length));
      in.remove_prefix(length);
    } else if (kind != kZeros) {
      return {};
    }
  }
  return pieces;
}

}  // namespace kyanite::content
