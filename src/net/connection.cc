#include "net/connection.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/budget.h"
#include "base/peer_network.h"
#include "http/serialize.h"
#include "net/listener.h"

namespace kyanite::net {

namespace {
constexpr size_t kTlsRecordBytes = 16 * 1024;
// One sendfile, then the loop's other connections: a fast peer must not keep the loop.
constexpr size_t kSendFileStep = 1024 * 1024;
// So much of a reply each connection may keep in memory: the limit of connections is its limit.
constexpr uint64_t kUncountedBytes = 16 * 1024;
// A peer that is gone is noticed after two minutes.
constexpr int kWatchIdleSeconds = 60;
constexpr int kWatchIntervalSeconds = 15;
constexpr int kWatchTries = 4;

// Drops `count` bytes from the front of the pieces.
std::span<iovec> drop_front(std::span<iovec> pieces, size_t count) {
  while (!pieces.empty() && count >= pieces.front().iov_len) {
    count -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (count > 0) {
    pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + count;
    pieces.front().iov_len -= count;
  }
  return pieces;
}

// What OpenSSL calls first bytes that are no TLS: it knows some methods of HTTP by name, and takes
// the rest for a wrong version.
bool is_no_tls(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  return ERR_GET_LIB(error) == ERR_LIB_SSL &&
         (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST ||
          reason == SSL_R_WRONG_VERSION_NUMBER);
}

uint64_t size_of(std::span<const iovec> pieces) {
  uint64_t size = 0;
  for (const iovec& piece : pieces) size += piece.iov_len;
  return size;
}

bool may_succeed_later(Progress progress) {
  return progress.step == Progress::kWantRead || progress.step == Progress::kWantWrite;
}
}  // namespace

Connection::Connection(Shard& shard, Descriptor descriptor, std::string peer, const TlsContext* tls,
                       Peers& peers)
    : shard_(shard),
      socket_(shard.loop, std::move(descriptor)),
      peer_(std::move(peer)),
      seat_(peers, peer_network(peer_), this),
      sending_(shard.timeouts.send, shard.timeouts.least_rate) {
  if (tls != nullptr) tls_ = tls->open_session(socket_.descriptor());
}

Connection::Connection(Shard& shard, Descriptor descriptor, std::string peer, ssl_st* tls)
    : shard_(shard),
      socket_(shard.loop, std::move(descriptor)),
      tls_(tls),
      peer_(std::move(peer)),
      sending_(shard.timeouts.send, shard.timeouts.least_rate) {}

Connection::~Connection() {
  if (tls_ == nullptr) return;
  if (!broken_) close_tls();
  SSL_free(tls_);
}

// Tells the peer that what it received is all; one attempt, as nobody waits for its answer.
void Connection::close_tls() {
  ERR_clear_error();
  if (SSL_is_init_finished(tls_)) SSL_shutdown(tls_);
}

Progress Connection::read_some(char* to, size_t room) {
  if (broken_) return {Progress::kFailed};
  if (tls_ != nullptr) return read_tls(to, room);
  if (!socket_.may_try(Direction::kRead)) return {Progress::kWantRead};
  ssize_t got;
  do {
    got = recv(socket_.descriptor(), to, room, 0);
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    const auto bytes = static_cast<size_t>(got);
    if (bytes < room) socket_.drained();
    shard_.bytes_in.add(bytes);
    return {Progress::kMoved, bytes};
  }
  if (got == 0) return {Progress::kEnd};
  if (errno != EAGAIN) return {Progress::kFailed};
  socket_.would_block(Direction::kRead);
  return {Progress::kWantRead};
}

Progress Connection::write_some(std::span<const iovec> pieces, bool more) {
  if (broken_) return {Progress::kFailed};
  if (tls_ != nullptr) return write_tls(pieces);
  if (!socket_.may_try(Direction::kWrite)) return {Progress::kWantWrite};
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());  // sendmsg only reads it.
  message.msg_iovlen = pieces.size();
  ssize_t sent;
  do {
    sent = sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    count_sent(static_cast<size_t>(sent));
    return {Progress::kMoved, static_cast<size_t>(sent)};
  }
  if (errno != EAGAIN) return {Progress::kFailed};
  socket_.would_block(Direction::kWrite);
  return {Progress::kWantWrite};
}

Progress Connection::send_file_some(const os::FileSlice& slice) {
  if (broken_) return {Progress::kFailed};
  if (tls_ != nullptr) return send_record(slice);
  if (!socket_.may_try(Direction::kWrite)) return {Progress::kWantWrite};
  auto offset = static_cast<off_t>(slice.offset);
  const auto step = static_cast<size_t>(std::min<uint64_t>(slice.length, kSendFileStep));
  ssize_t sent;
  do {
    sent = sendfile(socket_.descriptor(), slice.file->descriptor(), &offset, step);
  } while (sent < 0 && errno == EINTR);
  if (sent > 0) {
    count_sent(static_cast<size_t>(sent));
    return {Progress::kMoved, static_cast<size_t>(sent)};
  }
  // Nothing sent without an error: the file is shorter than the slice.
  if (sent == 0 || errno != EAGAIN) return {Progress::kFailed};
  socket_.would_block(Direction::kWrite);
  return {Progress::kWantWrite};
}

Progress Connection::tls_progress(int result) {
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
      socket_.would_block(Direction::kRead);
      return {Progress::kWantRead};
    case SSL_ERROR_WANT_WRITE:
      socket_.would_block(Direction::kWrite);
      return {Progress::kWantWrite};
    case SSL_ERROR_ZERO_RETURN:
      return {Progress::kEnd};
    default:
      broken_ = true;  // After such an error OpenSSL allows nothing more.
      return {Progress::kFailed};
  }
}

Progress Connection::read_tls(char* to, size_t room) {
  ERR_clear_error();
  size_t got = 0;
  const int result = SSL_read_ex(tls_, to, room, &got);
  if (result <= 0) return tls_progress(result);
  shard_.bytes_in.add(got);
  return {Progress::kMoved, got};
}

// Gathers small pieces, such as a head and a short body, into one record. A repeated attempt finds
// the same pieces and so offers OpenSSL the same bytes, as it demands.
Progress Connection::write_tls(std::span<const iovec> pieces) {
  thread_local char record[kTlsRecordBytes];
  const char* from = static_cast<const char*>(pieces.front().iov_base);
  size_t length = pieces.front().iov_len;
  if (pieces.size() > 1 && length < kTlsRecordBytes) {
    length = 0;
    for (const iovec& piece : pieces) {
      const size_t take = std::min(piece.iov_len, kTlsRecordBytes - length);
      if (take > 0) std::memcpy(record + length, piece.iov_base, take);
      length += take;
    }
    from = record;
  }
  if (length == 0) return {Progress::kMoved, 0};
  ERR_clear_error();
  size_t sent = 0;
  const int result = SSL_write_ex(tls_, from, length, &sent);
  if (result <= 0) {
    const Progress progress = tls_progress(result);
    return progress.step == Progress::kEnd ? Progress{Progress::kFailed} : progress;
  }
  count_sent(sent);
  return {Progress::kMoved, sent};
}

// One record of a file. The bytes are read anew for every attempt, so that a peer that hardly reads
// keeps no memory; as files do not change, a repeated attempt offers OpenSSL the same ones.
Progress Connection::send_record(const os::FileSlice& slice) {
  thread_local char record[kTlsRecordBytes];
  const auto step = static_cast<size_t>(std::min<uint64_t>(slice.length, kTlsRecordBytes));
  const auto got = slice.file->read_at(record, step, slice.offset);
  if (!got || *got == 0) return {Progress::kFailed};  // Unreadable, or shorter than the slice.
  const iovec piece{record, *got};
  return write_tls({&piece, 1});
}

// What the peer has acknowledged: the kernel may hold a lot that it has not.
uint64_t Connection::taken() const {
  int waiting = 0;
  if (ioctl(socket_.descriptor(), SIOCOUTQ, &waiting) != 0) waiting = 0;
  return sent_ - std::min(sent_, static_cast<uint64_t>(waiting));
}

Task<bool> Connection::wait_to_send(Progress::Step wanted) {
  while (sending_.left_ms() > 0) {
    const int64_t before = now_ms();
    const Wake wake = co_await wait(wanted, before + sending_.left_ms());
    if (wake == Wake::kInterrupted) co_return false;
    sending_.waited(now_ms() - before);
    const uint64_t now_taken = std::max(taken_, taken());
    sending_.moved(now_taken - std::exchange(taken_, now_taken));
    if (wake == Wake::kReady) co_return true;
  }
  co_return false;
}

Task<bool> Connection::write_all(std::span<iovec> pieces, bool more, Counted counted) {
  pieces = drop_front(pieces, 0);
  Budget::Part unread;
  while (!pieces.empty()) {
    const Progress progress = write_some(pieces, more);
    if (progress.step == Progress::kMoved) {
      pieces = drop_front(pieces, progress.bytes);
      continue;
    }
    if (!may_succeed_later(progress)) co_return false;
    const uint64_t left = size_of(pieces);
    if (counted == Counted::kHere && !unread.of_a_budget() && left > kUncountedBytes)
      unread = Budget::Part(body_memory(), peer_);
    if (unread.of_a_budget() && !unread.resize(left)) co_return false;
    if (!co_await wait_to_send(progress.step)) co_return false;
  }
  co_return true;
}

Task<bool> Connection::send_file(os::FileSlice slice) {
  const uint64_t per_turn = secure() ? kChunkBytes : kSendFileStep;
  uint64_t since_turn = 0;
  while (slice.length > 0) {
    const Progress progress = send_file_some(slice);
    if (progress.step == Progress::kMoved) {
      slice.offset += progress.bytes;
      slice.length -= progress.bytes;
      since_turn += progress.bytes;
      if (slice.length == 0 || since_turn < per_turn) continue;
      since_turn = 0;
      co_await shard_.loop.turn();
      continue;
    }
    if (!may_succeed_later(progress)) co_return false;
    since_turn = 0;
    if (!co_await wait_to_send(progress.step)) co_return false;
  }
  co_return true;
}

Task<bool> Connection::handshake() {
  if (tls_ == nullptr) co_return true;
  const int64_t deadline = now_ms() + shard_.timeouts.handshake.count();
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls_);
    if (result == 1) co_return true;
    const Progress progress = tls_progress(result);
    if (!may_succeed_later(progress)) {
      if (SSL_is_server(tls_) == 1 && is_no_tls(ERR_peek_error())) co_await refuse_plain();
      co_return false;
    }
    const Wake wake = co_await wait(progress.step, deadline);
    if (wake != Wake::kReady) co_return false;
  }
}

// The session is dropped first, so that the reply goes out as plainly as the request came.
Task<void> Connection::refuse_plain() {
  SSL_free(std::exchange(tls_, nullptr));
  broken_ = false;
  std::string reply = http::refusal(
      {400, "this port speaks HTTPS, and the request came as plain HTTP: use https:// in the URL"});
  iovec piece{reply.data(), reply.size()};
  if (co_await write_all({&piece, 1})) co_await linger();
}

Task<void> Connection::linger() {
  if (tls_ != nullptr) close_tls();
  shutdown(socket_.descriptor(), SHUT_WR);
  const int64_t deadline = now_ms() + shard_.timeouts.linger.count();
  Buffer discarded(kTlsRecordBytes);
  while (now_ms() < deadline) {
    const Progress progress = read_some(discarded.data(), discarded.capacity());
    if (progress.step == Progress::kMoved) {
      co_await shard_.loop.turn();
      continue;
    }
    if (!may_succeed_later(progress)) co_return;
    const Wake wake = co_await wait(progress.step, deadline);
    if (wake != Wake::kReady) co_return;
  }
}

std::string Connection::local() const {
  Address address;
  address.length = sizeof address.storage;
  if (getsockname(socket_.descriptor(), address.raw(), &address.length) != 0) return {};
  return address.host();
}

size_t Connection::unconfirmed_bytes() const {
  int bytes = 0;
  if (ioctl(socket_.descriptor(), SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<size_t>(bytes);
}

void Connection::watch_peer() {
  const auto set = [this](int level, int option, int value) {
    setsockopt(socket_.descriptor(), level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kWatchIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kWatchIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kWatchTries);
}

void Connection::stop_idling() {
  if (idle_) socket_.interrupt();
}

void Connection::cut() {
  broken_ = true;
  const ::linger abortive{1, 0};  // Closing sends a reset.
  setsockopt(socket_.descriptor(), SOL_SOCKET, SO_LINGER, &abortive, sizeof abortive);
  socket_.interrupt();
}

void Connection::hang_up() { ::shutdown(socket_.descriptor(), SHUT_RDWR); }

}  // namespace kyanite::net
