#include "drive/connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/peer_network.h"
#include "smb/session.h"
#include "smb/times.h"

namespace kyanite::drive {

namespace {
bool is_loopback_address(std::string_view address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}
// So much of a frame each connection may keep in memory: the limit of connections is its limit.
constexpr uint64_t kUncountedFrameBytes = kMaxUnauthenticatedFrameBytes;
// How long a frame waits for memory, and how often it looks whether there is some.
constexpr std::chrono::milliseconds kMemoryPatience{60'000};
constexpr std::chrono::milliseconds kMemoryLook{50};
}  // namespace

Budget& reply_memory() {
  static auto* budget = new Budget(kMaxReplyBytesOfAll);  // Never destroyed: parts may end late.
  return *budget;
}

Connection::Connection(Drive& drive, Carrier& carrier)
    : drive_(drive),
      carrier_(carrier),
      network_(peer_network(carrier.peer())),
      on_loopback_(is_loopback_address(carrier.peer())),
      mailbox_(std::make_shared<Mailbox>(carrier.loop(), *this)),
      sender_(carrier, drive.workers) {
  drive_.metrics.connections.fetch_add(1, std::memory_order_relaxed);
  sender_.on_progress = [this] {
    if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
  };
}

Connection::~Connection() {
  CHECK(chains_ == 0 && guests_ == 0);
  CHECK(sessions_.empty());
  drive_.metrics.connections.fetch_sub(1, std::memory_order_relaxed);
}

size_t Connection::most_frame_bytes() const {
  return authenticated() ? kMaxFrameBytes + smb::kTransformBytes : kMaxUnauthenticatedFrameBytes;
}

Task<bool> Connection::wait_for_room() {
  const size_t most = authenticated() ? kMaxRunning : kMaxRunningOfStrangers;
  const auto gone = [this] { return dropped_ || sender_.broken(); };
  while (!gone() && (load_.requests() >= most || load_.bytes() > kMaxBytesInMemory)) {
    Pending<bool> room;
    room_ = &room;
    co_await room;
  }
  co_return !gone();
}

bool Connection::fail(std::string_view why) {
  drop(why);
  return false;
}

void Connection::drop(std::string_view why) {
  if (std::exchange(dropped_, true)) return;
  log_info("SMB connection of " + std::string(peer()) + " is closed: " + std::string(why));
  if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
  carrier_.cut();
}

Task<bool> Connection::receive(Buffer frame, size_t begin) {
  auto chain = std::make_unique<Chain>();
  chain->frame = std::move(frame);
  std::string_view bytes = chain->frame.view().substr(begin);
  switch (smb::kind_of(bytes)) {
    case smb::FrameKind::kMessages:
      break;
    case smb::FrameKind::kSealed:
      if (!co_await open_sealed(*chain, bytes)) co_return false;
      break;
    case smb::FrameKind::kSmb1:
      co_return answer_hello(bytes);
    case smb::FrameKind::kCompressed:
    case smb::FrameKind::kOther:
      co_return fail("a frame that is not SMB2");
  }
  auto messages = smb::split_chain(bytes);
  if (!messages) co_return fail("a malformed chain of messages");
  for (const smb::Message& message : *messages) chain->requests.push_back({message});
  if (!take_ids(*chain)) co_return fail("a message id that was not granted");
  if (!agreement && chain->requests.front().message.header.command != smb::Command::kNegotiate)
    co_return fail("a request before NEGOTIATE");
  if (!co_await verify(*chain)) co_return false;
  if (!co_await reserve_replies(*chain)) co_return false;
  chain->weight = make_weight(*chain);
  if (const Bound* bound = find_home(*chain)) {
    send_home(std::move(chain), *bound);
  } else {
    run(std::move(chain));
  }
  co_return !dropped_;
}

Task<bool> Connection::open_sealed(Chain& chain, std::string_view& bytes) {
  const auto transform = smb::read_transform(bytes);
  if (!transform) co_return fail("a malformed encrypted frame");
  const auto channel = find_channel(transform->session_id);
  if (channel == nullptr || !channel->opener)
    co_return fail("an encrypted frame of no session that encrypts");
  std::optional<std::string_view> plain;
  char* const begin = chain.frame.data() + (chain.frame.size() - bytes.size());
  auto work = [&] { return channel->opener->open({begin, bytes.size()}); };
  if (bytes.size() > kInlineCryptoBytes) {
    plain = co_await drive_.workers.run(work);
  } else {
    plain = work();
  }
  if (!plain || smb::kind_of(*plain) != smb::FrameKind::kMessages)
    co_return fail("an encrypted frame that its session did not encrypt");
  chain.sealed_by = channel;
  bytes = *plain;
  co_return true;
}

// Looks at the signatures, in the order in which messages came: a session's key serves one at a
// time.
Task<bool> Connection::verify(Chain& chain) {
  std::shared_ptr<Channel> before;
  for (Incoming& request : chain.requests) {
    const smb::Header& header = request.message.header;
    const bool related = header.has(smb::header_flag::kRelated);
    const auto channel = related ? before : find_channel(header.session_id);
    // What follows a CANCEL takes over nothing from it: it is heard and not served.
    if (header.command != smb::Command::kCancel) before = channel;
    if (chain.sealed_by != nullptr) {
      if (!related && header.session_id != chain.sealed_by->session_id)
        co_return fail("a message of another session than it is encrypted by");
      request.proven = chain.sealed_by->session_id;
      continue;
    }
    if (!header.has(smb::header_flag::kSigned) || channel == nullptr) continue;
    bool right = false;
    auto work = [&] { return channel->verifier.verify(request.message.bytes); };
    if (request.message.bytes.size() > kInlineCryptoBytes) {
      right = co_await drive_.workers.run(work);
    } else {
      right = work();
    }
    request.signature = right ? Incoming::Signature::kRight : Incoming::Signature::kWrong;
    if (right) request.proven = channel->session_id;
  }
  co_return true;
}

bool Connection::take_ids(const Chain& chain) {
  for (const Incoming& request : chain.requests) {
    const smb::Header& header = request.message.header;
    if (header.command == smb::Command::kCancel) continue;
    if (!credits_.take(header.message_id, charge_of(header))) return false;
  }
  return true;
}

// Counts what the requests bring, and the most that their replies may have.
Load::Weight Connection::make_weight(const Chain& chain) {
  uint64_t bytes = chain.frame.capacity();
  for (const Incoming& request : chain.requests)
    bytes += std::min<uint64_t>(moved_bytes(request.message.header, request.message.bytes),
                                kMaxTransferBytes);
  return Load::Weight(load_, chain.requests.size(), bytes, std::exchange(arriving_, {}),
                      std::exchange(replying_, {}));
}

Task<bool> Connection::reserve(size_t frame_bytes) {
  if (frame_bytes <= kUncountedFrameBytes) co_return true;
  co_return co_await take_memory(body_memory(), frame_bytes, arriving_);
}

Task<bool> Connection::reserve_replies(const Chain& chain) {
  if (!authenticated()) co_return true;
  uint64_t bytes = 0;
  for (const Incoming& request : chain.requests) {
    const smb::Header& header = request.message.header;
    if (header.command == smb::Command::kWrite) continue;  // It brings what it moves.
    const uint64_t moved = moved_bytes(header, request.message.bytes);
    bytes += std::min<uint64_t>(moved, kMaxTransferBytes);
  }
  // One small reply costs nobody anything; many that wait do.
  if (bytes == 0 || load_.bytes() + bytes <= kUncountedFrameBytes) co_return true;
  co_return co_await take_memory(reply_memory(), bytes, replying_);
}

Task<bool> Connection::take_memory(Budget& budget, uint64_t bytes, Budget::Part& memory) {
  Budget::Part part(budget, peer(), account_);
  for (auto waited = std::chrono::milliseconds(0);; waited += kMemoryLook) {
    // Whoever takes what it asked for goes on, one request at a time if need be.
    // What waits for other clients does not count: it may do so for however long.
    const auto asked = load_.requests() == 0 ? Budget::Asked::kFirst : Budget::Asked::kMore;
    if (part.resize(bytes, asked)) break;
    if (waited >= kMemoryPatience || dropped_) co_return fail("no memory for its frames");
    co_await carrier_.sleep(kMemoryLook);
  }
  memory = std::move(part);
  co_return true;
}

void Connection::count_failed_logon() {
  if (++failed_logons_ >= kMaxFailedLogons && !authenticated()) drop("too many logons failed");
}

// The reply to a hello of SMB1 is as if it had been a NEGOTIATE of SMB2 with message id 0.
bool Connection::answer_hello(std::string_view frame) {
  const auto hello = smb::read_smb1_hello(frame);
  if (!hello || agreement || std::exchange(hello_, true)) return fail("a frame of SMB1");
  if (!hello->smb2_wildcard) return fail("a client that speaks neither SMB 2.1 nor later");
  const smb::Header request;
  if (!credits_.take(request.message_id, 1)) return fail("a frame of SMB1");
  smb::NegotiateReply body;
  body.security_mode = smb::security_mode::kSigningEnabled | smb::security_mode::kSigningRequired;
  body.dialect = smb::Dialect::kWildcard;
  body.server = drive_.guid;
  body.capabilities = smb::capability::kLeasing | smb::capability::kLargeMtu;
  body.max_transact = body.max_read = body.max_write = kMaxTransferBytes;
  body.system_time = smb::to_file_time(drive_.clock.now());
  body.token = drive_.logon_hint;
  smb::Header header = smb::reply_header(request, smb::Status::kSuccess);
  header.credits = credits_.grant(1, 1, false);
  OutgoingFrame out;
  out.messages.push_back({smb::encode(header, body), {}, {}, nullptr});
  sender_.send(std::move(out));
  return true;
}

// What sessions at home elsewhere have open is not known here, nor whether those at home here are
// used by way of their further connections.
bool Connection::has_opens() const {
  return !bound_.empty() || std::any_of(sessions_.begin(), sessions_.end(), [](const auto& each) {
    return each.second->has_opens() || !each.second->further.empty();
  });
}

size_t Connection::tree_count() const {
  size_t count = 0;
  for (const auto& [id, session] : sessions_) count += session->trees();
  return count;
}

std::shared_ptr<Session> Connection::add_session() {
  // Nobody would end it: what arrives here now came by further connections of other sessions.
  if (ending_) return nullptr;
  if (sessions_.size() - established_ >= kMaxLogons || sessions_.size() >= kMaxSessions)
    return nullptr;
  const uint64_t id = drive_.sessions.add(mailbox_);
  auto session = std::make_shared<Session>(id, preauth);
  sessions_.emplace(id, session);
  return session;
}

std::shared_ptr<Session> Connection::find_session(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

void Connection::session_established(uint64_t id, Bond bond) {
  ++established_;
  account_ = bond.account;
  const auto channel = find_channel(id);
  drive_.clients.add(bond.client, {mailbox_, id, bond.terms.must_encrypt ? channel : nullptr});
  drive_.sessions.establish(id, std::move(bond));
}

std::shared_ptr<Channel> Connection::find_channel(uint64_t session_id) const {
  if (const auto session = find_session(session_id)) return session->channel;
  const auto bound = bound_.find(session_id);
  return bound == bound_.end() ? nullptr : bound->second.channel;
}

void Connection::cancel_where(Exchange::Cancelled why,
                              const std::function<bool(const Exchange&)>& which) {
  // Cancelling wakes handlers later: none ends meanwhile.
  for (Exchange* exchange : running_) {
    if (which(*exchange)) exchange->cancel(why);
  }
}

void Connection::abandon(const std::function<bool(const Exchange&)>& which) {
  cancel_where(Exchange::Cancelled::kEnded, [&](const Exchange& exchange) {
    if (!which(exchange)) return false;
    exchange.chain().ended = true;
    return true;
  });
}

Task<void> Connection::end_session(std::shared_ptr<Session> session, OpenEnd why,
                                   const Exchange* except) {
  if (sessions_.erase(session->id()) == 0) co_return;
  drive_.sessions.begin_end(session->id());
  auto& ending = ending_sessions_[session->id()];
  if (session->established()) {
    --established_;
    drive_.clients.remove(session->client(), session->id());
  }
  session->end();
  for (const FurtherChannel& further : std::exchange(session->further, {})) {
    further.connection->post([id = session->id()](Connection* connection) {
      if (connection != nullptr) connection->unbind(id);
    });
  }
  cancel_where(Exchange::Cancelled::kEnded, [&](const Exchange& exchange) {
    return &exchange != except && exchange.session == session;
  });
  co_await served(*session, except);
  drive_.metrics.trees.fetch_sub(session->end_trees(), std::memory_order_relaxed);
  co_await end_opens(session->take_opens(nullptr), why);
  drive_.sessions.remove(session->id());
  const auto waiting = std::move(ending);
  ending_sessions_.erase(session->id());
  for (Pending<bool>* ended : waiting) ended->set(true);
  if (progress_ != nullptr) std::exchange(progress_, nullptr)->set(true);
}

// What a client asked before its session ended is done before it comes back for what it has open:
// a late WRITE would overwrite what it writes then. What is at work for longer than this does not
// wait for the client.
Task<void> Connection::served(const Session& session, const Exchange* except) {
  constexpr std::chrono::milliseconds kStep{10};
  constexpr int kMostSteps = 500;
  constexpr int kTurns = 8;  // What was cancelled needs no more, and no time.
  const auto is_served = [&] {
    return std::any_of(running_.begin(), running_.end(), [&](const Exchange* exchange) {
      return exchange != except && exchange->session.get() == &session;
    });
  };
  for (int turn = 0; turn < kTurns && is_served(); ++turn) co_await Executor::yield();
  for (int step = 0; step < kMostSteps && is_served(); ++step) co_await carrier_.sleep(kStep);
}

Detached Connection::log_off(std::shared_ptr<Session> session) {
  co_await end_session(std::move(session), OpenEnd::kLoggedOff);
}

void Connection::end_without_key() {
  std::vector<std::shared_ptr<Session>> lost;
  for (const auto& [id, session] : sessions_) {
    if (has_lost_key(session.get())) lost.push_back(session);
  }
  for (auto& session : lost) {
    log_info("SMB session of " + session->account() + " from " + std::string(peer()) +
             " ends: its key is no more");
    log_off(std::move(session));
  }
}

Task<void> Connection::end_opens(std::vector<std::shared_ptr<Open>> opens, OpenEnd why) {
  drive_.metrics.opens.fetch_sub(opens.size(), std::memory_order_relaxed);
  // Others of the loop have their turn meanwhile.
  constexpr size_t kEndsATurn = 64;
  for (size_t i = 0; i < opens.size(); ++i) {
    co_await end_open(*this, std::move(opens[i]), why);
    if (i % kEndsATurn == kEndsATurn - 1) co_await Executor::yield();
  }
}

Task<void> Connection::session_ended(uint64_t id) {
  const auto ending = ending_sessions_.find(id);
  if (ending == ending_sessions_.end()) co_return;
  Pending<bool> ended;
  ending->second.push_back(&ended);
  co_await ended;
}

Task<void> Connection::end_tree(Session& session, std::shared_ptr<TreeConnect> tree,
                                const Exchange* except) {
  if (!session.end_tree(*tree)) co_return;
  drive_.metrics.trees.fetch_sub(1, std::memory_order_relaxed);
  cancel_where(Exchange::Cancelled::kEnded, [&](const Exchange& exchange) {
    return &exchange != except && exchange.tree == tree;
  });
  co_await end_opens(session.take_opens(tree.get()), OpenEnd::kTreeDisconnected);
}

void Connection::notify(const std::shared_ptr<Channel>& sealed_by, std::string message) {
  if (sender_.waiting() >= kMaxNotifications) return drop("the peer takes no notifications");
  OutgoingFrame out;
  out.messages.push_back({std::move(message), {}, {}, nullptr});
  out.sealed_by = sealed_by;
  sender_.send(std::move(out));
}

// Sessions that have further connections live on until the last of those is gone, unless there are
// too many such.
Task<void> Connection::end(bool answered) {
  ending_ = true;
  if (!answered) carrier_.cut();
  leave_homes();
  for (const auto& [id, session] : sessions_) {
    if (session->established()) drive_.clients.remove(session->client(), id, mailbox_.get());
  }
  const auto goes_on = [](const Exchange& exchange) {
    return exchange.outlives_channel && exchange.session != nullptr &&
           !exchange.session->further.empty();
  };
  abandon([&](const Exchange& exchange) { return !exchange.chain().origin && !goes_on(exchange); });
  for (Exchange* exchange : running_) {
    if (exchange->chain().guest || exchange->cancelled()) continue;
    exchange->chain().guest = true;
    --chains_;
    ++guests_;
  }
  while (chains_ > 0) co_await make_progress();
  const auto lonely = std::find_if(sessions_.begin(), sessions_.end(),
                                   [](const auto& each) { return !each.second->further.empty(); });
  Places::Place place;
  if (lonely != sessions_.end())
    place = drive_.lonely_homes.take(lonely->second->account(), network_);
  std::vector<std::shared_ptr<Session>> alone;
  for (const auto& [id, session] : sessions_) {
    if (!place || session->further.empty()) alone.push_back(session);
  }
  for (auto& session : alone) co_await end_session(std::move(session), OpenEnd::kConnectionLost);
  while (!sessions_.empty() || !ending_sessions_.empty() || guests_ > 0) co_await make_progress();
  place = {};
  mailbox_->close();
  co_await sender_.drain();
  sender_.on_progress = nullptr;
}

// Until one of the things that end() waits for has happened.
Task<void> Connection::make_progress() {
  Pending<bool> made;
  progress_ = &made;
  co_await made;
}

}  // namespace kyanite::drive
