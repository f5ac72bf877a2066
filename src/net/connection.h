// One peer: bytes in, bytes out, plain or TLS. Knows no protocol; HTTP (http_session.h) and others
// stand on it.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "net/options.h"
#include "net/patience.h"
#include "net/peers.h"
#include "net/socket.h"
#include "net/tls.h"
#include "os/file.h"

namespace kyanite::net {

// A count that its loop's thread alone changes and any thread reads.
class Counter {
 public:
  void add(uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Connection;

// One event loop with what its connections share. Lives on the loop's thread, except for the
// counters.
struct Shard {
  explicit Shard(const Timeouts& times) : timeouts(times) {}

  Loop loop;
  const Timeouts timeouts;
  Counter accepted;
  Counter refused;
  Counter yielded;
  Counter requests;
  Counter bytes_in;
  Counter bytes_out;
  bool draining = false;  // The server stops: finish the request at hand and end.
  std::vector<Socket*> listening;
  std::vector<std::unique_ptr<Peers>> peers;  // Of each allowance.
  std::list<Connection> connections;
};

// How far one attempt to move bytes came.
struct Progress {
  enum Step {
    kMoved,      // `bytes` were moved, at least one.
    kWantRead,   // Nothing now; try the same again after wait().
    kWantWrite,  // The same. TLS may want to write in order to read, and the other way round.
    kEnd,        // The peer sends no more. Only reads end.
    kFailed,     // The connection is of no more use.
  };
  Step step;
  size_t bytes = 0;
};

// Used on its loop's thread. One coroutine may read while another writes, unless the connection is
// secure.
class Connection {
 public:
  // Throws std::bad_alloc.
  Connection(Shard& shard, Descriptor descriptor, std::string peer, const TlsContext* tls,
             Peers& peers);
  // A connection made from here. With a `tls` session, which it owns, it begins with a handshake.
  Connection(Shard& shard, Descriptor descriptor, std::string peer, ssl_st* tls);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::string_view peer() const { return peer_; }  // numeric IP address
  // The numeric IP address by which the peer reached this machine; empty when it is gone.
  std::string local() const;
  // What was written and the peer's machine has not confirmed.
  size_t unconfirmed_bytes() const;
  bool secure() const { return tls_ != nullptr; }
  Shard& shard() const { return shard_; }
  // The server stops: do not begin another request.
  bool draining() const { return shard_.draining; }
  int64_t now_ms() const { return shard_.loop.now_ms(); }

  // Single attempts, which never wait.
  Progress read_some(char* to, size_t room);
  // `more`: further bytes follow at once, so a packet need not leave half full.
  Progress write_some(std::span<const iovec> pieces, bool more = false);
  Progress send_file_some(const os::FileSlice& slice);

  // Waits until an attempt that said kWantRead or kWantWrite is worth repeating.
  auto wait(Progress::Step wanted, int64_t deadline_ms) {
    return socket_.wait(wanted == Progress::kWantWrite ? Direction::kWrite : Direction::kRead,
                        deadline_ms);
  }
  // As wait, between requests: a stopping server ends it.
  struct IdleWait;
  IdleWait wait_idle(Progress::Step wanted, int64_t deadline_ms);

  // Whole transfers; false when the peer is gone or takes too little for Timeouts::send. While the
  // peer does not take them, the bytes that write_all has in memory count (base/budget.h), and
  // where they are too much it fails. It changes `pieces`.
  enum class Counted : uint8_t { kHere, kAlready };
  Task<bool> write_all(std::span<iovec> pieces, bool more = false,
                       Counted counted = Counted::kHere);
  Task<bool> send_file(os::FileSlice slice);
  // The TLS handshake, within Timeouts::handshake; true at once for plain connections. A peer that
  // speaks plain HTTP instead is told so in its own tongue.
  Task<bool> handshake();
  // Tells the peer that nothing follows and discards what it still sends, until it ends or
  // Timeouts::linger has passed. Closing with unread bytes would make the kernel drop the reply on
  // its way.
  Task<void> linger();

  // Has the kernel ask now and then whether the peer is still there, so that a connection on which
  // nothing is said for hours ends with its peer.
  void watch_peer();

  // Between the two a request is served; otherwise the connection rests, and may have to yield.
  void begin_request() {
    seat_.begin_request();
    sending_.renew();
  }
  void end_request() { seat_.end_request(); }

  // How long this has been waiting for its peer; -1 when it does not.
  int64_t waited_ms() const { return socket_.waited_ms(); }
  // Ends the wait for a request, of an idle connection or a slow one; for a server that is full.
  void stop_resting() { socket_.interrupt(); }
  // Ends an idle wait; for the server that stops.
  void stop_idling();
  // Makes every attempt fail and every wait end. The peer sees a broken connection, which it cannot
  // take for the end of what was sent.
  void cut();
  // Nothing more comes or goes, which the peer learns at once, though this may go on to live.
  void hang_up();

 private:
  Progress read_tls(char* to, size_t room);
  Progress write_tls(std::span<const iovec> pieces);
  Progress tls_progress(int result);
  Progress send_record(const os::FileSlice& slice);
  void close_tls();
  Task<void> refuse_plain();
  // Waits until an attempt to send that said so is worth repeating; false when the peer is gone or
  // takes too little.
  Task<bool> wait_to_send(Progress::Step wanted);
  uint64_t taken() const;
  void count_sent(size_t bytes) {
    sent_ += bytes;
    shard_.bytes_out.add(bytes);
  }

  Shard& shard_;
  Socket socket_;
  ssl_st* tls_ = nullptr;
  bool idle_ = false;
  bool broken_ = false;
  std::string peer_;
  Peers::Seat seat_;
  Patience sending_;
  uint64_t sent_ = 0;   // Given to the kernel.
  uint64_t taken_ = 0;  // What the peer was seen to have taken of it.
};

struct Connection::IdleWait {
  Connection& connection;
  decltype(std::declval<Socket&>().wait(Direction::kRead, 0)) wait;

  bool await_ready() noexcept { return wait.await_ready() || connection.draining(); }
  void await_suspend(std::coroutine_handle<> coroutine) {
    connection.idle_ = true;
    wait.await_suspend(coroutine);
  }
  Wake await_resume() noexcept {
    connection.idle_ = false;
    return connection.draining() ? Wake::kInterrupted : wait.await_resume();
  }
};

inline Connection::IdleWait Connection::wait_idle(Progress::Step wanted, int64_t deadline_ms) {
  return {*this, wait(wanted, deadline_ms)};
}

}  // namespace kyanite::net
