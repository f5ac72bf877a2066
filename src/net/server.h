// The listeners and event loops of the process: accepts connections, hands each to the protocol of
// its listener and stops in order. Each loop has its own thread and its own listening sockets; a
// connection stays on one loop for life.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "net/connection.h"
#include "net/loop_visits.h"
#include "net/options.h"
#include "net/tls.h"

namespace kyanite::net {

// A front end on connections: HTTP is one, SMB another. One object serves all connections of its
// listener, on all loops.
class Protocol {
 public:
  virtual ~Protocol() = default;
  // Serves the connection to its end, on its event loop. The connection is closed when the task
  // ends.
  virtual Task<void> serve(Connection& connection) = 0;
  // What a peer is told that is one too many; by TLS it is told nothing.
  virtual std::string_view refusal() const { return {}; }
};

// How many loops a server has unless it is told otherwise.
int usable_cpus();

// Where a listener can be reached; the port is the kernel's choice when 0 was asked for.
struct Endpoint {
  std::string host;
  uint16_t port = 0;
};

struct Metrics {
  uint64_t connections_open = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;  // over the limit
  uint64_t connections_yielded = 0;  // closed to make room for others
  uint64_t connections_limit = 0;    // of the listeners without an allowance of their own
  uint64_t requests = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
};

// Used from one thread, except metrics(), visits() and loops_turn(). Handlers, protocols and TLS
// contexts must outlive it.
class Server {
 public:
  explicit Server(Options options);
  ~Server();  // Stops without grace if still running.
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens a listener, before start(). `host` is a numeric address or a name; a name listens on
  // every address it has here, "::" on IPv4 as well. With `tls`, connections begin with a
  // handshake. Fails, naming address and port, when the port is taken, by another instance of this
  // program as by anyone else. With `own_connections`, that many connections to it are allowed
  // whatever there is elsewhere, and they count for nobody else.
  Result<Endpoint, std::string> listen(const std::string& host, uint16_t port,
                                       http::Handler& handler, const TlsContext* tls = nullptr,
                                       size_t own_connections = 0);
  Result<Endpoint, std::string> listen(const std::string& host, uint16_t port, Protocol& protocol,
                                       const TlsContext* tls = nullptr, size_t own_connections = 0);

  // Starts the loops. The process ignores SIGPIPE from here on (sendfile and OpenSSL know no other
  // way), and its limit of open files is raised as far as it may be.
  void start();

  // Stops accepting, closes idle connections at once and lets requests in flight finish; what is
  // left after `grace` has its connection cut. Returns when every connection has ended, so a
  // handler is never left behind: one that waits for something other than its peer is waited for.
  void drain_and_stop(std::chrono::milliseconds grace);

  // Any thread may call it.
  Metrics metrics() const;

  // Whether its loops turn: for any thread, between start() and drain_and_stop().
  LoopVisits& visits();
  // Whether all turn within `longest`, for a handler on one of them.
  Task<bool> loops_turn(std::chrono::milliseconds longest);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kyanite::net
