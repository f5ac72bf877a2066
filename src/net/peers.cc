#include "net/peers.h"

namespace kyanite::net {

size_t Peers::count(std::string_view peer) const {
  const auto found = peers_.find(std::string(peer));
  return found == peers_.end() ? 0 : found->second->count;
}

void Peers::set_count(Peer& peer, size_t count) {
  by_count_.erase({peer.count, &peer});
  peer.count = count;
  if (count > 0) by_count_.insert({count, &peer});
}

Peers::Peer& Peers::join(const std::string& name) {
  auto& peer = peers_[name];
  if (peer == nullptr) {
    peer = std::make_unique<Peer>();
    peer->name = name;
  }
  set_count(*peer, peer->count + 1);
  return *peer;
}

void Peers::leave(Peer& peer) {
  set_count(peer, peer.count - 1);
  if (peer.count == 0) peers_.erase(peers_.find(peer.name));
}

Peers::Seat::Seat(Peers& peers, const std::string& peer, Connection* connection)
    : peers_(&peers), peer_(&peers.join(peer)), connection_(connection) {
  link_before(peer_->resting);
}

Peers::Seat::~Seat() {
  if (peer_ == nullptr) return;
  unlink();
  peers_->leave(*peer_);
}

}  // namespace kyanite::net
