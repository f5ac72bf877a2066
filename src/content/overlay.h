// What was written to a sparse content and is not stored yet: pieces by offset, ranges that were
// cleared, and the length that the content is to have. Plain data: what has it says who guards it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "content/content.h"

namespace kyanite::content {

class Overlay {
 public:
  // Nothing was changed at all.
  bool empty() const { return parts_.empty() && !length_ && end_ == 0 && kept_ == UINT64_MAX; }

  // [piece.offset, piece.end()) has this from now on, and the content reaches at least so far.
  void write(Piece piece);
  // [from, to) is zeros. Does not make the content longer.
  void clear(uint64_t from, uint64_t to);
  void set_length(uint64_t length);
  // The content is at least so long.
  void reach(uint64_t end);
  // What it has of [from, to) is forgotten: that is as it is stored.
  void forget(uint64_t from, uint64_t to) { make_room(from, to); }
  // Whatever was done to `newer` happened after what was done to this one.
  void lay(Overlay newer);

  // How long a content of `stored` bytes is with this laid over it.
  uint64_t length(uint64_t stored) const { return length_ ? *length_ : std::max(stored, end_); }
  // Up to where the stored bytes count. Beyond they are zeros, whatever is stored.
  uint64_t kept() const { return kept_; }
  size_t inline_bytes() const { return inline_bytes_; }
  size_t part_count() const { return parts_.size(); }

  struct Part {
    uint64_t from = 0;
    uint64_t to = 0;
    std::optional<Piece> piece;  // Nothing: zeros.
  };
  // What it has of [from, to), ascending and clipped. What lies between is as it is stored.
  std::vector<Part> parts(uint64_t from, uint64_t to) const;

  // The same without what it has outside of [from, to).
  Overlay within(uint64_t from, uint64_t to) const;

  // What is to be done to a content of `stored` bytes. It needs room for both lengths meanwhile.
  std::vector<Edit> edits(uint64_t stored) const;

 private:
  struct Held {
    uint64_t end = 0;
    std::optional<Piece> piece;
  };
  using Parts = std::map<uint64_t, Held>;

  // Takes away what it has of [from, to).
  void make_room(uint64_t from, uint64_t to);
  void put(uint64_t from, Held held);
  bool extends_last(const Piece& piece, Parts::iterator& last);
  static Part part_of(uint64_t from, const Held& held, uint64_t low, uint64_t high);

  Parts parts_;
  uint64_t kept_ = UINT64_MAX;
  std::optional<uint64_t> length_;  // Set: exactly this.
  uint64_t end_ = 0;                // Else at least this.
  size_t inline_bytes_ = 0;
};

}  // namespace kyanite::content
