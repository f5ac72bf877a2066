#include "net/server.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "http/serialize.h"
#include "net/http_session.h"
#include "net/listener.h"

namespace kyanite::net {

namespace {
// How long accepting rests when the process has run out of descriptors or memory.
constexpr int64_t kAcceptRestMs = 100;

class HttpProtocol final : public Protocol {
 public:
  explicit HttpProtocol(http::Handler& handler) : handler_(handler) {}
  Task<void> serve(Connection& connection) override { return serve_http(connection, handler_); }

 private:
  http::Handler& handler_;
};

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// The peer may or may not come to read this; accepting on to tell it properly would be beyond the
// limit.
void refuse_connection(const Descriptor& socket) {
  static const std::string kReply = http::refusal({503, "too many connections"});
  send(socket.number(), kReply.data(), kReply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(socket.number(), SHUT_WR);
}
}  // namespace

// A listening socket that waits for its loop to start.
struct Listening {
  Descriptor socket;
  size_t shard;
  Protocol* protocol;
  const TlsContext* tls;
};

struct Server::State {
  explicit State(Options chosen) : options(chosen) {
    if (options.threads <= 0) options.threads = usable_cpus();
    for (int i = 0; i < options.threads; ++i) {
      shards.push_back(std::make_unique<Shard>(options.timeouts));
    }
  }

  Detached accept_connections(Shard& shard, Listening listening);
  void admit(Shard& shard, Descriptor socket, const Address& peer, const Listening& listening);
  Detached serve(Shard& shard, std::list<Connection>::iterator connection, Protocol& protocol);
  Detached begin_draining(Shard& shard);
  Detached cut_connections(Shard& shard);
  void one_ended();
  bool wait_for_end(std::chrono::milliseconds longest);

  Options options;
  std::vector<std::unique_ptr<Protocol>> http_protocols;
  std::vector<Listening> listening;  // Until start().
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<std::thread> threads;
  std::atomic<size_t> open{0};
  std::atomic<size_t> running{0};  // Coroutines that hold on to a loop: acceptors and connections.
  std::mutex mutex;
  std::condition_variable all_ended;
};

Server::Server(Options options) : state_(std::make_unique<State>(options)) {}

Server::~Server() { drain_and_stop(std::chrono::milliseconds(0)); }

Result<Endpoint, std::string> Server::listen(const std::string& host, uint16_t port,
                                             http::Handler& handler, const TlsContext* tls) {
  state_->http_protocols.push_back(std::make_unique<HttpProtocol>(handler));
  return listen(host, port, *state_->http_protocols.back(), tls);
}

Result<Endpoint, std::string> Server::listen(const std::string& host, uint16_t port,
                                             Protocol& protocol, const TlsContext* tls) {
  CHECK(state_->threads.empty());
  auto addresses = resolve(host, port);
  if (!addresses) return Failure{addresses.error()};
  Endpoint endpoint;
  std::string unavailable;
  for (Address& address : *addresses) {
    if (endpoint.port != 0) address.set_port(endpoint.port);
    auto sockets = listen_on(address, state_->options.threads);
    if (!sockets) {
      // A name may have an IPv6 address on a machine that has IPv6 switched off.
      const int code = sockets.error().code;
      unavailable = sockets.error().what;
      if (code == EADDRNOTAVAIL || code == EAFNOSUPPORT) continue;
      return Failure{unavailable};
    }
    if (endpoint.port == 0) endpoint = {address.host(), address.port()};
    for (size_t i = 0; i < sockets->size(); ++i) {
      state_->listening.push_back({std::move((*sockets)[i]), i, &protocol, tls});
    }
  }
  if (endpoint.port == 0) return Failure{unavailable};
  return endpoint;
}

void Server::start() {
  CHECK(state_->threads.empty());
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  for (auto& listening : state_->listening) {
    ++state_->running;
    Shard& shard = *state_->shards[listening.shard];
    state_->accept_connections(shard, std::move(listening));
  }
  state_->listening.clear();
  for (auto& shard : state_->shards) {
    state_->threads.emplace_back([loop = &shard->loop] { loop->run(); });
    pthread_setname_np(state_->threads.back().native_handle(), "net");
  }
}

Detached Server::State::accept_connections(Shard& shard, Listening from) {
  co_await shard.loop.turn();
  {
    Socket socket(shard.loop, std::move(from.socket));
    shard.listening.push_back(&socket);
    while (!shard.draining) {
      Address peer;
      peer.length = sizeof peer.storage;
      Descriptor accepted(
          accept4(socket.descriptor(), peer.raw(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (accepted.number() >= 0) {
        admit(shard, std::move(accepted), peer, from);
      } else if (errno == EAGAIN) {
        socket.would_block(Direction::kRead);
        co_await socket.wait(Direction::kRead, Timer::kNever);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        log_warning(std::string("cannot accept connections now: ") + std::strerror(errno));
        co_await shard.loop.sleep_until(shard.loop.now_ms() + kAcceptRestMs);
      }  // else: that connection was broken before it was accepted.
    }
    std::erase(shard.listening, &socket);
  }
  one_ended();
}

void Server::State::admit(Shard& shard, Descriptor socket, const Address& peer,
                          const Listening& from) {
  shard.accepted.add(1);
  if (open.fetch_add(1) >= options.max_connections) {
    --open;
    shard.refused.add(1);
    if (from.tls == nullptr) refuse_connection(socket);
    return;
  }
  ++running;
  try {
    shard.connections.emplace_front(shard, std::move(socket), peer.host(), from.tls);
  } catch (const std::bad_alloc&) {
    log_error("out of memory for a new connection");
    --open;
    one_ended();
    return;
  }
  serve(shard, shard.connections.begin(), *from.protocol);
}

Detached Server::State::serve(Shard& shard, std::list<Connection>::iterator connection,
                              Protocol& protocol) {
  try {
    const bool secured = co_await connection->handshake();
    if (secured) co_await protocol.serve(*connection);
  } catch (const std::exception& error) {
    log_error(std::string("a connection is cut because of an exception: ") + error.what());
  }
  shard.connections.erase(connection);
  --open;
  one_ended();
}

void Server::State::one_ended() {
  if (running.fetch_sub(1) > 1) return;
  std::lock_guard lock(mutex);
  all_ended.notify_all();
}

bool Server::State::wait_for_end(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex);
  return all_ended.wait_for(lock, longest, [this] { return running == 0; });
}

Detached Server::State::begin_draining(Shard& shard) {
  co_await shard.loop.turn();
  shard.draining = true;
  for (Socket* socket : shard.listening) socket->interrupt();
  for (Connection& connection : shard.connections) connection.stop_idling();
}

Detached Server::State::cut_connections(Shard& shard) {
  co_await shard.loop.turn();
  for (Connection& connection : shard.connections) connection.cut();
}

void Server::drain_and_stop(std::chrono::milliseconds grace) {
  state_->listening.clear();
  if (state_->threads.empty()) return;
  for (auto& shard : state_->shards) state_->begin_draining(*shard);
  if (!state_->wait_for_end(grace)) {
    for (auto& shard : state_->shards) state_->cut_connections(*shard);
    while (!state_->wait_for_end(std::chrono::seconds(10))) {
      log_warning("stopping: still waiting for requests to end");
    }
  }
  for (auto& shard : state_->shards) shard->loop.stop();
  for (auto& thread : state_->threads) thread.join();
  state_->threads.clear();
}

Metrics Server::metrics() const {
  Metrics sum;
  sum.connections_open = state_->open;
  for (const auto& shard : state_->shards) {
    sum.connections_accepted += shard->accepted.value();
    sum.connections_refused += shard->refused.value();
    sum.requests += shard->requests.value();
    sum.bytes_in += shard->bytes_in.value();
    sum.bytes_out += shard->bytes_out.value();
  }
  return sum;
}

}  // namespace kyanite::net
