// The connections of one loop by the peers they come from, so that when there are too many those
// yield who have most. No I/O; used on the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kyanite::net {

class Connection;

class Peers {
 public:
  struct Peer;
  class Seat;

  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  size_t count(std::string_view peer) const;

  // The seat at rest that should yield to a newcomer: the one that has rested longest, of the peer
  // that has most seats. Those who have no more than the newcomer's peer need not yield, except to
  // themselves. Only seats for which `may_yield` says so; null when the first few have none.
  template <class MayYield>
  Seat* find_resting(std::string_view newcomer, MayYield may_yield) const;

  // The seat whose request should yield to a newcomer of another peer, although it is not
  // finished: of the peer that has most seats, the one that has waited longest for its peer, if
  // that is `least_ms`. Null unless that peer has more than twice what the newcomer's would have
  // then. `waited_ms` tells how long a seat has waited, -1 when it does not.
  template <class WaitedMs>
  Seat* find_stalled(std::string_view newcomer, int64_t least_ms, WaitedMs waited_ms) const;

  int64_t nobody_yields_until_ms = 0;  // Nobody could, a moment ago.

 private:
  // How far a search goes: it must not cost more than the newcomer would.
  static constexpr int kMaxPeersSearched = 16;
  static constexpr int kMaxSeatsSearched = 16;

  Peer& join(const std::string& peer);
  void leave(Peer& peer);
  void set_count(Peer& peer, size_t count);

  std::unordered_map<std::string, std::unique_ptr<Peer>> peers_;
  std::set<std::pair<size_t, Peer*>> by_count_;
};

// One connection's seat; lives inside it. Its peer rests between requests.
class Peers::Seat {
 public:
  Seat() = default;  // Of a connection that is no peer's: made from here.
  Seat(Peers& peers, const std::string& peer, Connection* connection);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  Connection* connection() const { return connection_; }
  void begin_request();
  void end_request();

 private:
  friend class Peers;
  friend struct Peers::Peer;

  void link_before(Seat& end);
  void unlink();

  Peers* peers_ = nullptr;
  Peer* peer_ = nullptr;
  Connection* connection_ = nullptr;
  // The list of its peer that it is in, whose end is a seat of nobody.
  Seat* before_ = this;
  Seat* after_ = this;
};

struct Peers::Peer {
  std::string name;
  size_t count = 0;
  Seat resting;  // In the order in which they came to rest.
  Seat serving;
};

inline void Peers::Seat::unlink() {
  before_->after_ = after_;
  after_->before_ = before_;
}

inline void Peers::Seat::link_before(Seat& end) {
  before_ = end.before_;
  after_ = &end;
  before_->after_ = this;
  end.before_ = this;
}

inline void Peers::Seat::begin_request() {
  if (peer_ == nullptr) return;
  unlink();
  link_before(peer_->serving);
}

inline void Peers::Seat::end_request() {
  if (peer_ == nullptr) return;
  unlink();
  link_before(peer_->resting);
}

template <class MayYield>
Peers::Seat* Peers::find_resting(std::string_view newcomer, MayYield may_yield) const {
  const size_t enough = count(newcomer);
  int searched = 0;
  for (auto at = by_count_.rbegin(); at != by_count_.rend() && at->first >= enough; ++at) {
    if (++searched > kMaxPeersSearched) break;
    if (at->first == enough && at->second->name != newcomer) continue;
    Seat& end = at->second->resting;
    int seats = 0;
    for (Seat* seat = end.after_; seat != &end && seats < kMaxSeatsSearched;
         seat = seat->after_, ++seats) {
      if (may_yield(*seat)) return seat;
    }
  }
  return nullptr;
}

template <class WaitedMs>
Peers::Seat* Peers::find_stalled(std::string_view newcomer, int64_t least_ms,
                                 WaitedMs waited_ms) const {
  if (by_count_.empty()) return nullptr;
  const auto& [most, greediest] = *by_count_.rbegin();
  if (most <= 2 * (count(newcomer) + 1)) return nullptr;
  Seat* stalled = nullptr;
  for (Seat* seat = greediest->serving.after_; seat != &greediest->serving; seat = seat->after_) {
    const int64_t waited = waited_ms(*seat);
    if (waited < least_ms) continue;
    least_ms = waited + 1;
    stalled = seat;
  }
  return stalled;
}

}  // namespace kyanite::net
