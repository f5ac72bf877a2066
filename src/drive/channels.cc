// Sessions with several connections: how a further connection sends what arrives to the session's
// home, and how the answers come back. The two may be on different loops; what one knows of the
// other are mailboxes.
#include <algorithm>
#include <utility>

#include "base/buffer.h"
#include "drive/connection.h"

namespace kyanite::drive {

Connection::Binding* Connection::find_binding(uint64_t session_id) {
  const auto found = bindings_.find(session_id);
  if (found != bindings_.end()) return found->second.get();
  if (bindings_.size() >= kMaxLogons || bound_.size() >= kMaxSessions) return nullptr;
  auto begun = std::make_unique<Binding>(Binding{auth::LogonAcceptor(drive_.logon), preauth});
  return bindings_.emplace(session_id, std::move(begun)).first->second.get();
}

void Connection::bind(std::shared_ptr<Channel> channel, const Bond& bond) {
  const FurtherChannel further{mailbox_, channel};
  const uint64_t id = channel->session_id;
  const auto& home = bond.home;
  drive_.clients.add(bond.client, {mailbox_, id, bond.terms.must_encrypt ? channel : nullptr});
  account_ = bond.account;
  bound_.insert_or_assign(id, Bound{std::move(channel), home, bond.client});
  home->post([further, id](Connection* there) {
    if (there != nullptr && there->add_channel(further)) return;
    further.connection->post([id](Connection* here) {
      if (here != nullptr) here->unbind(id);
    });
  });
}

bool Connection::add_channel(FurtherChannel channel) {
  const auto session = find_session(channel.channel->session_id);
  if (session == nullptr) return false;
  session->further.push_back(std::move(channel));
  return true;
}

// What waits for an answer on it waits in vain. A session whose home is gone ends with its last
// connection.
Detached Connection::remove_channel(uint64_t session_id, std::shared_ptr<Mailbox> connection) {
  abandon([&](const Exchange& exchange) {
    return exchange.chain().origin && exchange.chain().origin->connection == connection &&
           !exchange.outlives_channel;
  });
  const auto session = find_session(session_id);
  if (session == nullptr) co_return;
  std::erase_if(session->further,
                [&](const FurtherChannel& each) { return each.connection == connection; });
  if (ending_ && session->further.empty()) co_await end_session(session, OpenEnd::kConnectionLost);
  if (progress_ != nullptr) std::exchange(progress_, nullptr)->set(true);
}

void Connection::unbind(uint64_t session_id) {
  const auto found = bound_.find(session_id);
  if (found == bound_.end()) return;
  drive_.clients.remove(found->second.client, session_id, mailbox_.get());
  bound_.erase(found);
  drive_.sessions.remove_channel(session_id);
}

void Connection::leave_homes() {
  for (auto& [id, bound] : std::exchange(bound_, {})) {
    drive_.clients.remove(bound.client, id, mailbox_.get());
    drive_.sessions.remove_channel(id);
    bound.home->post([session_id = id, here = mailbox_](Connection* home) {
      if (home != nullptr) home->remove_channel(session_id, here);
    });
  }
  bindings_.clear();
}

// Null if the messages are of this connection's own sessions, or of none.
const Connection::Bound* Connection::find_home(const Chain& chain) const {
  const auto found = bound_.find(chain.requests.front().message.header.session_id);
  return found == bound_.end() ? nullptr : &found->second;
}

void Connection::send_home(std::unique_ptr<Chain> chain, const Bound& bound) {
  const uint64_t number = ++last_away_;
  for (const Incoming& request : chain->requests) {
    const smb::Header& header = request.message.header;
    if (header.command != smb::Command::kCancel)
      chain->credits += credits_.grant(charge_of(header), header.credits, true);
  }
  chain->origin = {mailbox_, bound.channel, number, *agreement, chain->weight.take_frame()};
  away_.emplace(number, std::move(chain->weight));
  // Jobs can be copied, chains cannot.
  auto parcel = std::make_shared<std::unique_ptr<Chain>>(std::move(chain));
  bound.home->post([parcel](Connection* home) {
    if (home != nullptr) {
      home->run(std::move(*parcel));
      return;
    }
    (*parcel)->origin->connection->post([](Connection* connection) {
      if (connection != nullptr) connection->drop("its session has ended");
    });
  });
}

void Connection::deliver(Chain& chain, Leg leg, OutgoingFrame frame) {
  if (!chain.origin) {
    if (leg == Leg::kLast) frame.weight = std::move(chain.weight);
    if (leg == Leg::kInterim) frame.weight = chain.weight.rest(chain.frame.capacity());
    return sender_.send(std::move(frame));
  }
  auto parcel = std::make_shared<OutgoingFrame>(std::move(frame));
  const uint64_t waiting = chain.frame.capacity();
  chain.origin->connection->post(
      [parcel, leg, waiting, number = chain.origin->number](Connection* back) {
        if (back != nullptr) back->came_back(number, leg, waiting, std::move(*parcel));
      });
}

void Connection::came_back(uint64_t number, Leg leg, uint64_t waiting, OutgoingFrame frame) {
  const auto away = away_.find(number);
  if (away != away_.end()) {
    if (leg == Leg::kLast) frame.weight = std::move(away->second);
    // Besides, its answer takes some memory here, if the peer does not take it.
    if (leg == Leg::kInterim)
      frame.weight = away->second.rest(std::max<uint64_t>(waiting, kPageBytes));
  }
  sender_.send(std::move(frame));
}

void Connection::all_came_back(uint64_t number) {
  away_.erase(number);
  if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
}

}  // namespace kyanite::drive
