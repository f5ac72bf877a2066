#include "tree/held_locks.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace kyanite::tree {

namespace {

constexpr HandleId kNobody = 0;
constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();
// Of as many locks as a file may have there are about as many blocks as spans in a block.
constexpr size_t kMostInBlock = 128;

uint64_t last_byte(const ByteRange& range) {
  return range.length - 1 > kLargest - range.offset ? kLargest : range.offset + range.length - 1;
}

SpanIndex::Span span_of(HandleId holder, const ByteRange& range) {
  const uint64_t last = range.length == 0 ? range.offset : last_byte(range);
  return {range.offset, last, range.length, holder};
}

}  // namespace

void SpanIndex::Reach::add(const Span& span) {
  auto& [first, second] = furthest_;
  if (first.holder == kNobody || first.holder == span.holder) {
    if (first.holder == kNobody || first.last < span.last) first = span;
  } else if (first.last < span.last) {
    second = first;
    first = span;
  } else if (second.holder == kNobody || second.last < span.last) {
    second = span;
  }
}

bool SpanIndex::Reach::passes(HandleId but, uint64_t least_last) const {
  return std::any_of(furthest_.begin(), furthest_.end(), [&](const Span& span) {
    return span.holder != kNobody && span.holder != but && span.last >= least_last;
  });
}

void SpanIndex::Block::sum_up() {
  reach = {};
  for (const Span& span : spans) reach.add(span);
  latest_first = spans.back().first;
}

std::vector<SpanIndex::Block>::iterator SpanIndex::block_of(const Span& span) {
  return std::partition_point(blocks_.begin(), blocks_.end(),
                              [&](const Block& block) { return block.spans.back() < span; });
}

void SpanIndex::add(const Span& span) {
  auto block = block_of(span);
  if (blocks_.empty()) block = blocks_.insert(block, Block());
  if (block == blocks_.end()) --block;
  auto& spans = block->spans;
  spans.insert(std::upper_bound(spans.begin(), spans.end(), span), span);
  if (spans.size() <= kMostInBlock) {
    block->reach.add(span);
    block->latest_first = spans.back().first;
    return;
  }
  Block behind;
  const auto middle = spans.begin() + kMostInBlock / 2;
  behind.spans.assign(middle, spans.end());
  behind.sum_up();
  spans.erase(middle, spans.end());
  block->sum_up();
  blocks_.insert(block + 1, std::move(behind));
}

bool SpanIndex::remove(const Span& span) {
  const auto block = block_of(span);
  if (block == blocks_.end()) return false;
  const auto found = std::lower_bound(block->spans.begin(), block->spans.end(), span);
  if (*found != span) return false;
  block->spans.erase(found);
  if (block->spans.empty()) {
    blocks_.erase(block);
    return true;
  }
  block->sum_up();
  join(block);
  return true;
}

void SpanIndex::join(std::vector<Block>::iterator block) {
  const auto fits = [](const Block& one, const Block& other) {
    return one.spans.size() + other.spans.size() <= kMostInBlock / 2;
  };
  if (block != blocks_.begin() && fits(*(block - 1), *block)) --block;
  const auto behind = block + 1;
  if (behind == blocks_.end() || !fits(*block, *behind)) return;
  block->spans.insert(block->spans.end(), behind->spans.begin(), behind->spans.end());
  block->sum_up();
  blocks_.erase(behind);
}

size_t SpanIndex::remove_all(HandleId holder) {
  std::vector<Span> left;
  size_t before = 0;
  for (const Block& block : blocks_) {
    before += block.spans.size();
    std::copy_if(block.spans.begin(), block.spans.end(), std::back_inserter(left),
                 [&](const Span& span) { return span.holder != holder; });
  }
  if (left.size() == before) return 0;
  blocks_.clear();
  for (const Span& span : left) add(span);
  return before - left.size();
}

bool SpanIndex::any(HandleId but, uint64_t latest_first, uint64_t least_last) const {
  for (const Block& block : blocks_) {
    if (block.latest_first <= latest_first) {
      if (block.reach.passes(but, least_last)) return true;
      continue;
    }
    // Only some of these begin early enough, and none of those behind.
    return std::any_of(block.spans.begin(), block.spans.end(), [&](const Span& span) {
      return span.first <= latest_first && span.holder != but && span.last >= least_last;
    });
  }
  return false;
}

void HeldLocks::Ranges::add(HandleId holder, const ByteRange& range) {
  (range.length == 0 ? empty_ : bytes_).add(span_of(holder, range));
}

bool HeldLocks::Ranges::remove(HandleId holder, const ByteRange& range) {
  return (range.length == 0 ? empty_ : bytes_).remove(span_of(holder, range));
}

size_t HeldLocks::Ranges::remove_all(HandleId holder) {
  return bytes_.remove_all(holder) + empty_.remove_all(holder);
}

bool HeldLocks::Ranges::meet(HandleId but, const ByteRange& range) const {
  const uint64_t from = range.offset;
  if (range.length == 0) return from > 0 && bytes_.any(but, from - 1, from);
  const uint64_t last = last_byte(range);
  return bytes_.any(but, last, from) || (from < kLargest && empty_.any(but, last, from + 1));
}

bool HeldLocks::conflicts(HandleId holder, const RangeLock& asked) const {
  if (!asked.exclusive) return exclusive_.meet(holder, asked.range);
  return exclusive_.meet(kNobody, asked.range) || shared_.meet(kNobody, asked.range);
}

bool HeldLocks::forbid(HandleId holder, const ByteRange& range, bool write) const {
  return exclusive_.meet(holder, range) || (write && shared_.meet(kNobody, range));
}

void HeldLocks::add(HandleId holder, const RangeLock& lock) {
  (lock.exclusive ? exclusive_ : shared_).add(holder, lock.range);
  ++size_;
}

bool HeldLocks::remove(HandleId holder, const RangeLock& lock) {
  const bool removed = (lock.exclusive ? exclusive_ : shared_).remove(holder, lock.range);
  if (removed) --size_;
  return removed;
}

bool HeldLocks::remove(HandleId holder, const ByteRange& range) {
  return remove(holder, RangeLock{range, true}) || remove(holder, RangeLock{range, false});
}

size_t HeldLocks::remove_all(HandleId holder) {
  if (empty()) return 0;
  const size_t removed = exclusive_.remove_all(holder) + shared_.remove_all(holder);
  size_ -= removed;
  return removed;
}

}  // namespace kyanite::tree
