#include "content/overlay.h"

#include <algorithm>
#include <utility>

namespace kyanite::content {

namespace {

size_t inline_bytes_in(const std::optional<Piece>& piece) {
  return piece ? piece->inline_bytes.size() : 0;
}

}  // namespace

Overlay::Part Overlay::part_of(uint64_t from, const Held& held, uint64_t low, uint64_t high) {
  Part part{std::max(from, low), std::min(held.end, high), std::nullopt};
  if (held.piece) part.piece = held.piece->part(part.from, part.to);
  return part;
}

void Overlay::put(uint64_t from, Held held) {
  inline_bytes_ += inline_bytes_in(held.piece);
  parts_.emplace(from, std::move(held));
}

void Overlay::make_room(uint64_t from, uint64_t to) {
  if (from >= to) return;
  auto next = parts_.upper_bound(from);
  if (next != parts_.begin()) --next;
  while (next != parts_.end() && next->first < to) {
    if (next->second.end <= from) {
      ++next;
      continue;
    }
    const uint64_t start = next->first;
    const Held held = std::move(next->second);
    next = parts_.erase(next);
    inline_bytes_ -= inline_bytes_in(held.piece);
    for (const auto& [low, high] : {std::pair(start, from), std::pair(to, held.end)}) {
      if (low >= high || low >= held.end || high <= start) continue;
      Part part = part_of(start, held, low, high);
      put(part.from, {part.to, std::move(part.piece)});
    }
  }
}

// Many small writes one after the other are one piece.
bool Overlay::extends_last(const Piece& piece, Parts::iterator& last) {
  if (piece.inline_bytes.empty() || piece.seal) return false;
  last = parts_.lower_bound(piece.offset);
  if (last == parts_.begin()) return false;
  --last;
  const Held& held = last->second;
  return held.end == piece.offset && held.piece && !held.piece->inline_bytes.empty() &&
         held.piece->inline_bytes.size() + piece.inline_bytes.size() <= kChunkBytes;
}

void Overlay::write(Piece piece) {
  if (piece.length == 0) return;
  const uint64_t end = piece.end();
  make_room(piece.offset, end);
  reach(end);
  if (Parts::iterator last; extends_last(piece, last)) {
    last->second.piece->inline_bytes += piece.inline_bytes;
    last->second.piece->length += piece.length;
    last->second.end = end;
    inline_bytes_ += piece.inline_bytes.size();
    return;
  }
  const uint64_t from = piece.offset;
  put(from, {end, std::move(piece)});
}

void Overlay::clear(uint64_t from, uint64_t to) {
  if (from >= to) return;
  make_room(from, to);
  put(from, {to, std::nullopt});
}

void Overlay::set_length(uint64_t length) {
  make_room(length, UINT64_MAX);
  kept_ = std::min(kept_, length);
  length_ = length;
  end_ = 0;
}

void Overlay::reach(uint64_t end) {
  if (length_) {
    length_ = std::max(*length_, end);
  } else {
    end_ = std::max(end_, end);
  }
}

void Overlay::lay(Overlay newer) {
  if (newer.kept_ != UINT64_MAX) {
    make_room(newer.kept_, UINT64_MAX);
    kept_ = std::min(kept_, newer.kept_);
  }
  for (auto& [from, held] : newer.parts_) {
    make_room(from, held.end);
    put(from, std::move(held));
  }
  if (newer.length_) {
    length_ = newer.length_;
    end_ = 0;
  } else {
    reach(newer.end_);
  }
}

std::vector<Overlay::Part> Overlay::parts(uint64_t from, uint64_t to) const {
  std::vector<Part> found;
  auto next = parts_.upper_bound(from);
  if (next != parts_.begin()) --next;
  for (; next != parts_.end() && next->first < to; ++next) {
    if (next->second.end > from) found.push_back(part_of(next->first, next->second, from, to));
  }
  return found;
}

Overlay Overlay::within(uint64_t from, uint64_t to) const {
  Overlay some;
  some.kept_ = kept_;
  some.length_ = length_;
  some.end_ = end_;
  for (auto& part : parts(from, to)) some.put(part.from, {part.to, std::move(part.piece)});
  return some;
}

std::vector<Edit> Overlay::edits(uint64_t stored) const {
  std::vector<Edit> edits;
  if (kept_ < stored) edits.push_back({kept_, stored, {}});
  const uint64_t most = length(stored);
  for (const auto& [from, held] : parts_) {
    const uint64_t end = std::min(held.end, most);
    if (from >= end) continue;
    if (!held.piece) {
      edits.push_back({from, end, {}});
      continue;
    }
    const bool goes_on = !edits.empty() && !edits.back().pieces.empty() && edits.back().end == from;
    if (!goes_on) edits.push_back({from, from, {}});
    edits.back().end = end;
    edits.back().pieces.push_back(*held.piece);
  }
  return edits;
}

}  // namespace kyanite::content
