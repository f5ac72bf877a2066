// What connections have of something (sessions, connected shares) of a number that all have
// together: one account has three quarters at most and one peer a half, so that neither shuts out
// the others.
#pragma once

#include <string>
#include <utility>

#include "base/fair_counts.h"

namespace kyanite::drive {

// Thread-safe. Outlives its places.
class Places {
 public:
  class Place;

  explicit Places(size_t most) : accounts_(most, 3), peers_(most) {}

  // None when there are too many. `peer` is a network (base/peer_network.h).
  Place take(std::string account, std::string peer);
  size_t taken() const { return accounts_.total(); }

 private:
  FairCounts<std::string> accounts_;
  FairCounts<std::string> peers_;
};

// One of them, given back when this ends.
class Places::Place {
 public:
  Place() = default;  // None.
  Place(Place&& other) noexcept { *this = std::move(other); }
  Place& operator=(Place&& other) noexcept {
    std::swap(places_, other.places_);
    std::swap(account_, other.account_);
    std::swap(peer_, other.peer_);
    return *this;
  }
  ~Place() {
    if (places_ == nullptr) return;
    places_->accounts_.remove(account_);
    places_->peers_.remove(peer_);
  }
  explicit operator bool() const { return places_ != nullptr; }

 private:
  friend class Places;
  Places* places_ = nullptr;
  std::string account_;
  std::string peer_;
};

inline Places::Place Places::take(std::string account, std::string peer) {
  Place place;
  place.account_ = std::move(account);
  place.peer_ = std::move(peer);
  if (!peers_.add(place.peer_)) return {};
  bool taken = false;
  try {
    taken = accounts_.add(place.account_);
  } catch (const std::bad_alloc&) {  // Is refused like too many.
  }
  if (!taken) {
    peers_.remove(place.peer_);
    return {};
  }
  place.places_ = this;
  return place;
}

}  // namespace kyanite::drive
