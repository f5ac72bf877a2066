// One client's connection: takes frames, checks who sent them and whether they may, has the
// handlers of their commands answer, and sends the answers. Knows no sockets.
//
// A session lives on the connection on which it was made, its home. Further connections may be
// bound to it: they check what arrives, send it home to be served, and send the answers.
//
// A frame is checked in the order of arrival; the requests of different frames are served beside
// each other, those of one frame one after the other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/buffer.h"
#include "drive/agreement.h"
#include "drive/carrier.h"
#include "drive/chain.h"
#include "drive/credits.h"
#include "drive/drive.h"
#include "drive/exchange.h"
#include "drive/limits.h"
#include "drive/mailbox.h"
#include "drive/sender.h"
#include "drive/session.h"
#include "smb/frame.h"
#include "smb/keys.h"
#include "smb/negotiate.h"

namespace kyanite::drive {

// Used on its loop.
class Connection {
 public:
  Connection(Drive& drive, Carrier& carrier);
  ~Connection();  // After end().
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // --- For whoever brings the frames ---

  // The most that the next frame may have, without its prefix.
  size_t most_frame_bytes() const;
  // Until there is room for another frame. False when the connection has to end.
  Task<bool> wait_for_room();
  // Reserves the memory for a frame, waiting for others to give some back. False when there is none
  // for too long.
  Task<bool> reserve(size_t frame_bytes);
  // Takes a frame, one at a time, which is in the buffer from `begin` on. False when the connection
  // has to end: the peer does not keep to the protocol, which is in the log then.
  Task<bool> receive(Buffer frame, size_t begin = 0);
  // No more frames come. Ends what waits, lets what is served finish, ends the sessions and returns
  // when everything is over. With `answered`, replies are still sent.
  Task<void> end(bool answered);

  // No more frames come by it.
  bool ending() const { return ending_; }
  bool authenticated() const { return established_ > 0 || !bound_.empty(); }
  bool busy() const { return load_.requests() > 0; }
  // Whether a session has something open.
  bool has_opens() const;
  // Of all sessions.
  size_t tree_count() const;

  // --- For handlers ---

  Drive& drive() const { return drive_; }
  std::string_view peer() const { return carrier_.peer(); }
  const std::string& network() const { return network_; }  // see base/peer_network.h
  bool on_loopback() const { return on_loopback_; }
  Carrier& carrier() const { return carrier_; }
  const std::shared_ptr<Mailbox>& mailbox() const { return mailbox_; }

  std::optional<Agreement> agreement;  // Nothing until NEGOTIATE.
  smb::Dialect dialect() const { return agreement ? agreement->dialect : smb::Dialect::kNone; }
  smb::PreauthHash preauth;

  // Null when there is no room for one more that is not established.
  std::shared_ptr<Session> add_session();
  std::shared_ptr<Session> find_session(uint64_t id) const;
  void session_established(uint64_t id, Bond bond);
  // Ends a session: what it waits for, its trees and opens. `except` goes on.
  Task<void> end_session(std::shared_ptr<Session> session, OpenEnd why,
                         const Exchange* except = nullptr);
  // Ends the sessions whose key is no more: those that send nothing also.
  void end_without_key();
  // When a session that is being ended has nothing open any more; at once for any other.
  Task<void> session_ended(uint64_t id);
  // As end_session() for a tree of it.
  Task<void> end_tree(Session& session, std::shared_ptr<TreeConnect> tree, const Exchange* except);
  // A logon failed. After too many of them a connection on which nobody has logged on is dropped.
  void count_failed_logon();

  // The logon by which this is being bound to a session at home elsewhere, begun if there is none;
  // null when there are too many.
  struct Binding {
    auth::LogonAcceptor logon;
    smb::PreauthHash preauth;
  };
  Binding* find_binding(uint64_t session_id);
  void forget_binding(uint64_t session_id) { bindings_.erase(session_id); }
  // From now on this is a further connection of the session.
  void bind(std::shared_ptr<Channel> channel, const Bond& bond);

  // Sends what no request asked for: a break. Its header needs a command and perhaps a session id;
  // null: it is not encrypted. On the loop; from elsewhere by way of the mailbox.
  void notify(const std::shared_ptr<Channel>& sealed_by, std::string message);

  // The connection ends as soon as it can, without a reply to the request at hand. For the log:
  // why.
  void drop(std::string_view why);

 private:
  friend class Exchange;

  // Where a session of this connection lives that was made on another.
  struct Bound {
    std::shared_ptr<Channel> channel;
    std::shared_ptr<Mailbox> home;
    smb::Guid client{};  // See Session::client().
  };

  // connection.cc: arrival.
  std::shared_ptr<Channel> find_channel(uint64_t session_id) const;
  Task<bool> open_sealed(Chain& chain, std::string_view& bytes);
  Task<bool> verify(Chain& chain);
  bool answer_hello(std::string_view frame);
  bool take_ids(const Chain& chain);
  // Reserves the memory for its replies, which may lie there until the peer takes them.
  Task<bool> reserve_replies(const Chain& chain);
  Task<bool> take_memory(Budget& budget, uint64_t bytes, Budget::Part& memory);
  Load::Weight make_weight(const Chain& chain);
  bool fail(std::string_view why);
  Task<void> make_progress();
  void cancel_where(Exchange::Cancelled why, const std::function<bool(const Exchange&)>& which);
  // The connection that these came by is gone. What follows them in their chains is served as if it
  // were cancelled.
  void abandon(const std::function<bool(const Exchange&)>& which);

  // dispatch.cc: service.
  Detached run(std::unique_ptr<Chain> chain);
  Task<void> serve(Chain& chain);
  void cancel_asked(const Chain& chain, const Incoming& request);
  void find_ends(Exchange& exchange);
  std::optional<smb::Status> admit(Exchange& exchange) const;
  bool has_lost_key(Session* session) const;
  Task<Reply> answer(Exchange& exchange);
  void finish(Exchange& exchange, Reply reply);
  void add_reply(Chain& chain, Outgoing reply);
  void send_interim(Exchange& exchange);
  void send_replies(Chain& chain, bool last);
  void count(const Exchange& exchange, const Reply& reply);
  void one_ended(bool guest);
  bool goes_on(const Chain& chain) const { return chain.origin || !dropped_; }

  Detached log_off(std::shared_ptr<Session> session);
  // Waits, not for long, until no request of the session is served but this one.
  Task<void> served(const Session& session, const Exchange* except);
  Task<void> end_opens(std::vector<std::shared_ptr<Open>> opens, OpenEnd why);

  // channels.cc: sessions with several connections. On a further one:
  const Bound* find_home(const Chain& chain) const;
  void send_home(std::unique_ptr<Chain> chain, const Bound& bound);
  void unbind(uint64_t session_id);
  void leave_homes();
  // What comes back: some replies, a note that the rest takes its time, or all that is left.
  enum class Leg { kReplies, kInterim, kLast };
  // `waiting`: what the request that takes its time came in.
  void came_back(uint64_t number, Leg leg, uint64_t waiting, OutgoingFrame frame);
  void all_came_back(uint64_t number);
  // At home:
  void deliver(Chain& chain, Leg leg, OutgoingFrame frame);
  bool add_channel(FurtherChannel channel);
  Detached remove_channel(uint64_t session_id, std::shared_ptr<Mailbox> connection);

  Drive& drive_;
  Carrier& carrier_;
  const std::string network_;
  const bool on_loopback_;
  std::shared_ptr<Mailbox> mailbox_;
  Load load_;
  Budget::Part arriving_;  // Of the frame that is received next
  Budget::Part replying_;  // and of the replies to it.
  Sender sender_;
  Credits credits_;
  bool dropped_ = false;
  bool hello_ = false;  // A client that also speaks SMB1 was answered.
  size_t established_ = 0;
  size_t failed_logons_ = 0;
  std::string account_;  // Who has logged on last: what the connection takes of memory is theirs.
  std::unordered_map<uint64_t, std::shared_ptr<Session>> sessions_;
  // Those being ended, and who waits for that.
  std::unordered_map<uint64_t, std::vector<Pending<bool>*>> ending_sessions_;
  std::vector<Exchange*> running_;
  size_t waiting_ = 0;  // Of them, those told to wait.
  size_t chains_ = 0;   // that came here
  size_t guests_ = 0;   // that came to further connections
  std::unordered_map<uint64_t, std::unique_ptr<Binding>> bindings_;
  std::unordered_map<uint64_t, Bound> bound_;
  std::unordered_map<uint64_t, Load::Weight> away_;  // Chains that are served at home.
  uint64_t last_away_ = 0;
  bool ending_ = false;  // No more frames come.
  Pending<bool>* room_ = nullptr;
  Pending<bool>* progress_ = nullptr;  // Of what end() waits for.
};

}  // namespace kyanite::drive
