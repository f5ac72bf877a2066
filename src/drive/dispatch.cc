// How a connection serves the messages of a frame: finds what each is about, checks whether it may
// be asked, has it answered and makes the answers a frame.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/limits.h"

namespace kyanite::drive {

namespace {
void put_header(std::string& message, const smb::Header& header) {
  std::string bytes;
  smb::append_fields(bytes, header);
  std::memcpy(message.data(), bytes.data(), bytes.size());
}
}  // namespace

Detached Connection::run(std::unique_ptr<Chain> chain) {
  chain->guest = chain->origin.has_value();
  ++(chain->guest ? guests_ : chains_);
  try {
    co_await serve(*chain);
  } catch (const std::exception& error) {
    drop(std::string("an exception: ") + error.what());
  }
  const bool guest = chain->guest;
  const auto back = chain->origin ? chain->origin->connection : nullptr;
  const uint64_t number = chain->origin ? chain->origin->number : 0;
  chain.reset();
  if (back != nullptr) {
    back->post([number](Connection* connection) {
      if (connection != nullptr) connection->all_came_back(number);
    });
  }
  one_ended(guest);
}

void Connection::one_ended(bool guest) {
  --(guest ? guests_ : chains_);
  if (room_ != nullptr) std::exchange(room_, nullptr)->set(true);
  if (progress_ != nullptr) std::exchange(progress_, nullptr)->set(true);
}

Task<void> Connection::serve(Chain& chain) {
  for (size_t i = 0; i < chain.requests.size() && goes_on(chain); ++i) {
    if (chain.requests[i].message.header.command == smb::Command::kCancel) {
      cancel_asked(chain, chain.requests[i]);
      continue;
    }
    Exchange exchange(*this, chain, i);
    // By it the chain is found when it has to end meanwhile.
    if (i % kMessagesATurn == kMessagesATurn - 1) co_await Executor::yield();
    if (!goes_on(chain)) co_return;
    Reply reply = co_await answer(exchange);
    if (!goes_on(chain)) co_return;
    finish(exchange, std::move(reply));
  }
  send_replies(chain, true);
}

// Has no reply, whatever comes of it. It names its session itself.
void Connection::cancel_asked(const Chain& chain, const Incoming& request) {
  const smb::Header& header = request.message.header;
  if (header.has(smb::header_flag::kRelated)) return;
  const auto session = find_session(header.session_id);
  if (session != nullptr && session->established() && request.proven != session->id()) return;
  const auto same_connection = [&](const Chain& other) {
    if (!chain.origin || !other.origin) return !chain.origin && !other.origin;
    return chain.origin->connection == other.origin->connection;
  };
  cancel_where(Exchange::Cancelled::kByClient, [&](const Exchange& exchange) {
    if (exchange.session != session || !same_connection(exchange.chain())) return false;
    return header.has(smb::header_flag::kAsync)
               ? exchange.async_id() != 0 && exchange.async_id() == header.async_id
               : exchange.header.message_id == header.message_id;
  });
}

// Which session and tree the message is about. A related one takes over those of the message
// before.
void Connection::find_ends(Exchange& exchange) {
  Chain& chain = exchange.chain();
  if (!exchange.header.has(smb::header_flag::kRelated)) {
    chain.session = find_session(exchange.header.session_id);
    chain.tree_id = exchange.header.tree_id;
    chain.file = smb::kPreviousFile;
    chain.create_error = smb::Status::kSuccess;
  }
  exchange.session = chain.session;
  if (exchange.session != nullptr && exchange.session->established())
    exchange.tree = exchange.session->find_tree(chain.tree_id);
}

// Why the message may not be answered by its handler, if so. The order of checks is that of
// Windows.
std::optional<smb::Status> Connection::admit(Exchange& exchange) const {
  using smb::Status;
  const CommandRow& row = *exchange.row;
  const Incoming& incoming = exchange.incoming();
  const Session* session = exchange.session.get();
  const bool sealed = exchange.chain().sealed_by != nullptr;
  const bool logs_on = row.command == smb::Command::kSessionSetup;
  if (exchange.header.has(smb::header_flag::kRelated) && exchange.chain().replies.empty() &&
      &incoming == &exchange.chain().requests.front())
    return Status::kInvalidParameter;
  // Whose signature it has to have is said by the session that it names itself.
  if (exchange.header.has(smb::header_flag::kRelated) &&
      (logs_on || row.command == smb::Command::kNegotiate))
    return Status::kInvalidParameter;
  if (incoming.signature == Incoming::Signature::kWrong) return Status::kAccessDenied;
  if (row.needs_session && session == nullptr && exchange.header.has(smb::header_flag::kRelated))
    return Status::kInvalidParameter;
  if (row.needs_session && (session == nullptr || !session->established() || session->ended()))
    return Status::kUserSessionDeleted;
  if (session != nullptr && session->established()) {
    if (session->must_encrypt() && !sealed && !logs_on) return Status::kAccessDenied;
    if (incoming.proven != session->id()) return Status::kAccessDenied;
  }
  if (exchange.chain().create_error != Status::kSuccess) return exchange.chain().create_error;
  if (row.needs_tree) {
    if (exchange.tree == nullptr) return Status::kNetworkNameDeleted;
    if (exchange.tree->pipes && row.on_pipes != Status::kSuccess) return row.on_pipes;
  }
  const uint64_t moved = moved_bytes(exchange.header, exchange.message);
  const uint64_t paid = uint64_t{charge_of(exchange.header)} * kBytesPerCredit;
  if (moved > kMaxTransferBytes || moved > paid) return Status::kInvalidParameter;
  return {};
}

// Whether the session's key was replaced or its account removed since it logged on.
bool Connection::has_lost_key(Session* session) const {
  return session != nullptr && session->established() && !session->ended() &&
         !session->has_its_key(drive_.shares);
}

Task<Reply> Connection::answer(Exchange& exchange) {
  exchange.row = find_command(exchange.header.command);
  find_ends(exchange);
  if (has_lost_key(exchange.session.get()))
    co_await end_session(exchange.session, OpenEnd::kLoggedOff, &exchange);
  if (exchange.row == nullptr) co_return refuse(exchange, smb::Status::kInvalidParameter);
  if (const auto refused = admit(exchange)) co_return refuse(exchange, *refused);
  exchange.occasion.cause.operation = exchange.row->name;
  if (exchange.session != nullptr) exchange.occasion.cause.caller = exchange.session->account();
  try {
    co_return co_await exchange.row->handler(exchange);
  } catch (const std::bad_alloc&) {
    log_error("out of memory for an SMB request");
    co_return refuse(exchange, smb::Status::kInsufficientResources);
  }
}

// Completes the header of a reply and puts it with those of its chain.
void Connection::finish(Exchange& exchange, Reply reply) {
  Chain& chain = exchange.chain();
  const smb::Header& asked = exchange.header;
  smb::Header& header = reply.header;
  const bool failed = static_cast<uint32_t>(header.status) >> 30 == 3;
  if (asked.command == smb::Command::kCreate && failed) chain.create_error = header.status;
  if (asked.has(smb::header_flag::kRelated) && exchange.session != nullptr) {
    if (header.session_id == asked.session_id) header.session_id = exchange.session->id();
    if (header.tree_id == asked.tree_id) header.tree_id = chain.tree_id;
  }
  if (!failed) {
    chain.tree_id = header.tree_id;
    chain.session = exchange.session;
  }
  if (exchange.async_id() != 0) {
    header.flags |= smb::header_flag::kAsync;
    header.async_id = exchange.async_id();
  } else if (!chain.origin) {
    // A logon gets what it asks for when it succeeds, and what it needs to go on before. So does
    // whatever else strangers ask.
    const bool generous =
        authenticated() && asked.command != smb::Command::kNegotiate &&
        (asked.command != smb::Command::kSessionSetup || header.status == smb::Status::kSuccess);
    chain.credits += credits_.grant(charge_of(asked), asked.credits, generous);
  }
  Outgoing out;
  // What cannot be signed answers a signed request with its own signature: clients that wait for
  // one learn the status so.
  // The session may have ended since its signature was found right: by this very chain.
  const bool by_session = exchange.session != nullptr &&
                          exchange.incoming().signature == Incoming::Signature::kRight &&
                          exchange.incoming().proven == exchange.session->id() &&
                          exchange.channel()->session_id == exchange.session->id();
  const bool is_signed = reply.signed_by != nullptr || by_session;
  if (!is_signed && chain.sealed_by == nullptr && asked.has(smb::header_flag::kSigned)) {
    header.flags |= smb::header_flag::kSigned;
    header.signature = asked.signature;
  }
  if (exchange.is_last()) header.credits = static_cast<uint16_t>(std::exchange(chain.credits, 0));
  put_header(reply.message, header);
  if (reply.preauth != nullptr) {
    // The hash is over what is sent, so that a signature has to be there first.
    if (reply.signed_by != nullptr) std::exchange(reply.signed_by, {})->signer.sign(reply.message);
    reply.preauth->add(reply.message);
  }
  count(exchange, reply);
  out.message = std::move(reply.message);
  out.data = std::move(reply.data);
  out.hold = std::move(reply.hold);
  if (reply.signed_by != nullptr) {
    out.signed_by = std::move(reply.signed_by);
  } else if (by_session) {
    out.signed_by = exchange.channel();
  }
  add_reply(chain, std::move(out));
}

// Several that read much may have more to tell than a frame can.
void Connection::add_reply(Chain& chain, Outgoing reply) {
  const uint64_t bytes = bytes_of(reply) + smb::kChainAlignment;
  if (chain.reply_bytes + bytes > kMaxReplyFrameBytes) send_replies(chain, false);
  chain.reply_bytes += bytes;
  chain.replies.push_back(std::move(reply));
}

// STATUS_PENDING: the replies before are sent first. Clients do not look for a signature of it,
// and its message id signs the reply that follows.
void Connection::send_interim(Exchange& exchange) {
  Chain& chain = exchange.chain();
  send_replies(chain, false);
  smb::Header header = smb::reply_header(exchange.header, smb::Status::kPending);
  header.flags |= smb::header_flag::kAsync;
  header.async_id = exchange.async_id();
  if (!chain.origin)
    chain.credits += credits_.grant(charge_of(exchange.header), exchange.header.credits, true);
  header.credits = static_cast<uint16_t>(std::exchange(chain.credits, 0));
  OutgoingFrame out;
  out.sealed_by = chain.sealed_by;
  out.messages.push_back({smb::encode(header, smb::ErrorReply()), {}, {}, nullptr});
  deliver(chain, Leg::kInterim, std::move(out));
}

void Connection::send_replies(Chain& chain, bool last) {
  if (chain.replies.empty()) return;
  OutgoingFrame out;
  out.messages = std::exchange(chain.replies, {});
  chain.reply_bytes = 0;
  out.sealed_by = chain.sealed_by;
  deliver(chain, last ? Leg::kLast : Leg::kReplies, std::move(out));
}

void Connection::count(const Exchange& exchange, const Reply& reply) {
  uint64_t sent = reply.message.size();
  for (const auto& piece : reply.data) sent += os::size_of(piece);
  drive_.metrics.count(exchange.header.command, reply.header.status,
                       std::chrono::steady_clock::now() - exchange.began, exchange.message.size(),
                       sent);
}

}  // namespace kyanite::drive
