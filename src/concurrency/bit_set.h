#pragma once

#include <cstdint>

namespace kyanite::concurrency {

// A set of a few things, one bit each: those of kAll. `Of` keeps sets of different things apart.
template <class Of, uint8_t kAll>
class BitSet {
 public:
  constexpr BitSet() = default;
  constexpr explicit BitSet(uint8_t bits) : bits_(bits & kAll) {}
  constexpr BitSet operator|(BitSet other) const {
    return BitSet(static_cast<uint8_t>(bits_ | other.bits_));
  }
  constexpr BitSet operator&(BitSet other) const {
    return BitSet(static_cast<uint8_t>(bits_ & other.bits_));
  }
  constexpr BitSet without(BitSet other) const {
    return BitSet(static_cast<uint8_t>(bits_ & ~other.bits_));
  }
  constexpr bool has(BitSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool within(BitSet other) const { return (bits_ & ~other.bits_) == 0; }
  constexpr uint8_t bits() const { return bits_; }
  constexpr bool operator==(const BitSet&) const = default;

 private:
  uint8_t bits_ = 0;
};

}  // namespace kyanite::concurrency
