#include "base/budget.h"

#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/peer_network.h"

namespace kyanite {

namespace {
constexpr uint64_t kBodyMemoryBytes = 512ULL * 1024 * 1024;
// How many times what stays free a peer and an account may hold.
constexpr size_t kPeer = 0;
constexpr size_t kAccount = 1;
constexpr std::array<uint64_t, 2> kTimesFree = {1, 3};
// What accounts leave is for their peers, but for one part in so many.
constexpr uint64_t kPartsOfPeers = 8;
// Very little: one part in so many of all, 128 KiB of the most there is.
constexpr uint64_t kPartsOfVeryLittle = 4096;
// On small machines it is one part in so many of the memory there is.
constexpr uint64_t kPartOfMachine = 4;

uint64_t body_memory_bytes() {
  const auto machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(kBodyMemoryBytes, machine / kPartOfMachine);
}
}  // namespace

Budget& body_memory() {
  static auto* budget = new Budget(body_memory_bytes());  // Never destroyed: parts may end late.
  return *budget;
}

Budget::Owner* Budget::join(std::string name) {
  MutexLock lock(mutex_);
  Owner& owner = *owners_.try_emplace(std::move(name)).first;
  ++owner.second.parts;
  return &owner;
}

void Budget::leave(Owner& owner) {
  MutexLock lock(mutex_);
  if (--owner.second.parts == 0) owners_.erase(owners_.find(owner.first));
}

bool Budget::change(const std::array<Owner*, 2>& owners, uint64_t from, uint64_t to, Asked asked) {
  MutexLock lock(mutex_);
  const uint64_t used = used_ - from + to;
  const uint64_t free = total_ - std::min<uint64_t>(total_, used);
  // Many who ask for one thing each leave something to those who ask for very little.
  const bool modest = (to <= total_ / kPartsOfVeryLittle && free >= total_ / 4) ||
                      (asked == Asked::kFirst && free >= total_ / 8 * 3);
  const auto within = [&](size_t i) {
    return owners[i] == nullptr || owners[i]->second.bytes - from + to <= kTimesFree[i] * free;
  };
  const bool granted = to <= from || modest ||
                       (within(kPeer) && (within(kAccount) || free >= total_ / kPartsOfPeers));
  if (!granted) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  used_ = used;
  for (Owner* owner : owners) {
    if (owner != nullptr) owner->second.bytes += to - from;
  }
  return true;
}

Budget::Part::Part(Budget& budget, std::string_view peer, std::string_view account)
    : budget_(&budget) {
  owners_[0] = budget.join("peer " + peer_network(peer));
  if (!account.empty()) owners_[1] = budget.join("account " + std::string(account));
}

Budget::Part::~Part() {
  if (budget_ == nullptr) return;
  CHECK(resize(0));
  for (Owner* owner : owners_) {
    if (owner != nullptr) budget_->leave(*owner);
  }
}

bool Budget::Part::resize(uint64_t bytes, Asked asked) {
  CHECK(budget_ != nullptr);
  if (bytes == bytes_) return true;
  if (!budget_->change(owners_, bytes_, bytes, asked)) return false;
  bytes_ = bytes;
  return true;
}

}  // namespace kyanite
