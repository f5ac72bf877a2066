// The byte-range locks of one file, and what they keep others from. Asking and changing takes far
// fewer steps than there are locks: one request may ask for hundreds beside thousands.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/file_key.h"

namespace kyanite::tree {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;  // May be 0, and may reach beyond the largest offset.
  bool operator==(const ByteRange&) const = default;
};

struct RangeLock {
  ByteRange range;
  bool exclusive = false;
};

// Spans of numbers, each somebody's, in blocks of neighbours that know how far they reach.
class SpanIndex {
 public:
  struct Span {
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t length = 0;  // As it was asked for, which may be more.
    HandleId holder = 0;
    auto operator<=>(const Span&) const = default;
  };

  void add(const Span& span);
  // False when there is none like it; of several it is one.
  bool remove(const Span& span);
  // How many there were.
  size_t remove_all(HandleId holder);
  // Whether one of others than this holder begins at `latest_first` or before and ends at
  // `least_last` or behind.
  bool any(HandleId but, uint64_t latest_first, uint64_t least_last) const;

 private:
  // The span that reaches furthest, and the furthest of other holders than that.
  class Reach {
   public:
    void add(const Span& span);
    bool passes(HandleId but, uint64_t least_last) const;

   private:
    std::array<Span, 2> furthest_;  // Holder 0: there is none.
  };
  struct Block {
    std::vector<Span> spans;  // In order, never empty.
    Reach reach;
    uint64_t latest_first = 0;

    void sum_up();
  };

  // Where the span is, or would be.
  std::vector<Block>::iterator block_of(const Span& span);
  // Two neighbours that are small become one.
  void join(std::vector<Block>::iterator block);

  std::vector<Block> blocks_;
};

class HeldLocks {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Whether one of them keeps the holder from taking this one. An exclusive lock meets every other
  // one, except a shared one that its own holder puts over it.
  bool conflicts(HandleId holder, const RangeLock& asked) const;
  // Whether one of them keeps the holder from reading or writing; 0: somebody who holds none.
  bool forbid(HandleId holder, const ByteRange& range, bool write) const;

  void add(HandleId holder, const RangeLock& lock);
  bool remove(HandleId holder, const RangeLock& lock);
  // A lock of this range that the holder has, an exclusive one if it has both: that it took first,
  // unless they have no bytes. False when it has none.
  bool remove(HandleId holder, const ByteRange& range);
  // How many there were.
  size_t remove_all(HandleId holder);

 private:
  // Ranges of no bytes lie between two bytes and meet ranges that have both, but never each other.
  class Ranges {
   public:
    void add(HandleId holder, const ByteRange& range);
    bool remove(HandleId holder, const ByteRange& range);
    size_t remove_all(HandleId holder);
    // Whether one of others than this holder overlaps the range.
    bool meet(HandleId but, const ByteRange& range) const;

   private:
    SpanIndex bytes_;
    SpanIndex empty_;
  };

  Ranges exclusive_;
  Ranges shared_;
  size_t size_ = 0;
};

}  // namespace kyanite::tree
