// Memory that many share, of which none can take all. A peer may hold more as long as that is no
// more than what stays free: one alone gets a half, two a third each, and there is always something
// left for one more. An account may hold three times what stays free: all of its peers together
// leave a quarter to other accounts. Of that an eighth of all is for peers of the account that have
// no more than stays free, so that one of its peers does not shut out the others. Who asks for very
// little gets it as long as a quarter of all is free, and who holds nothing and asks for one thing
// as long as three eighths are: what others of the same peer hold, who may be behind one address
// with it, does not shut it out.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"

namespace kyanite {

// Thread-safe. Must outlive its parts.
class Budget {
 public:
  class Part;
  // Whether who asks holds something of it already, by other parts.
  enum class Asked { kFirst, kMore };

  explicit Budget(uint64_t total) : total_(total) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  uint64_t total() const { return total_.load(std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  // How often more was asked for than there was.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // What is held stays held.
  void set_total(uint64_t total) { total_ = total; }

 private:
  struct Holdings {
    uint64_t bytes = 0;
    uint64_t parts = 0;
  };
  using Owner = std::pair<const std::string, Holdings>;

  Owner* join(std::string name);
  void leave(Owner& owner);
  bool change(const std::array<Owner*, 2>& owners, uint64_t from, uint64_t to, Asked asked);

  std::atomic<uint64_t> total_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> refused_{0};
  Mutex mutex_;  // Held by those who change used_, too, and what owners hold.
  std::unordered_map<std::string, Holdings> owners_ GUARDED_BY(mutex_);
};

// What one request or reply holds, on behalf of the peer (base/peer_network.h) and, where it is
// known, of the account. Not thread-safe.
class Budget::Part {
 public:
  Part() = default;  // Of no budget, holding nothing.
  Part(Budget& budget, std::string_view peer, std::string_view account = {});
  Part(Part&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)),
        owners_(other.owners_),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Part& operator=(Part&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(owners_, other.owners_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Part();

  bool of_a_budget() const { return budget_ != nullptr; }
  uint64_t bytes() const { return bytes_; }
  // Makes it this much, more or less than before. False, and as before, when more is too much.
  [[nodiscard]] bool resize(uint64_t bytes, Asked asked = Asked::kMore);

 private:
  Budget* budget_ = nullptr;
  std::array<Owner*, 2> owners_{};  // The peer and the account, which may be null.
  uint64_t bytes_ = 0;
};

// What this process may hold of the bodies of requests while they are received, and of replies
// while nobody reads them.
Budget& body_memory();

}  // namespace kyanite
