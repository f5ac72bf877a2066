// Latencies in buckets whose width is at most 1/64 of their value: small, cheap to fill, exact
// enough.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kyanite::load {

class Histogram {
 public:
  void add(uint64_t nanoseconds) {
    ++counts_[bucket(nanoseconds)];
    ++total_;
  }

  void add(const Histogram& other) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
  }

  uint64_t total() const { return total_; }

  // The least latency that at least this share (0 to 1) stayed within; 0 when there is none.
  double microseconds(double share) const {
    const auto wanted = static_cast<uint64_t>(share * static_cast<double>(total_));
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted || (seen == total_ && seen > 0)) return static_cast<double>(upper(i)) / 1e3;
    }
    return 0;
  }

 private:
  static constexpr size_t kBits = 6;
  static constexpr uint64_t kExact = 2U << kBits;  // Below this every value has its own bucket.

  static size_t bucket(uint64_t value) {
    if (value < kExact) return value;
    const size_t shift = static_cast<size_t>(std::bit_width(value)) - 1 - kBits;
    return (shift << kBits) + static_cast<size_t>(value >> shift);
  }

  static uint64_t upper(size_t bucket) {
    if (bucket < kExact) return bucket;
    const size_t shift = (bucket >> kBits) - 1;
    return ((bucket - (shift << kBits) + 1) << shift) - 1;
  }

  std::vector<uint64_t> counts_ = std::vector<uint64_t>(64U << kBits);
  uint64_t total_ = 0;
};

}  // namespace kyanite::load
