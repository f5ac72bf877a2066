#include "net/server.h"

#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/peer_network.h"
#include "http/serialize.h"
#include "net/http_session.h"
#include "net/listener.h"
#include "os/descriptors.h"

namespace kyanite::net {

namespace {
// How long accepting rests when the process has run out of descriptors or memory.
constexpr int64_t kAcceptRestMs = 100;
// One in so many places is kept for others by whoever has most of them.
constexpr size_t kPartForOthers = 16;
// How long nobody is asked to yield after nobody could.
constexpr int64_t kYieldRestMs = 100;

class HttpProtocol final : public Protocol {
 public:
  explicit HttpProtocol(http::Handler& handler) : handler_(handler) {}
  Task<void> serve(Connection& connection) override { return serve_http(connection, handler_); }
  std::string_view refusal() const override {
    static const std::string kReply = http::refusal({503, "too many connections"});
    return kReply;
  }

 private:
  http::Handler& handler_;
};

// A connection that was broken before it was accepted; the next one may be well.
bool is_of_that_connection(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:  // A firewall.
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

// The peer may or may not come to read this; accepting on to tell it properly would be beyond the
// limit.
void refuse_connection(const Descriptor& socket, std::string_view refusal) {
  send(socket.number(), refusal.data(), refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(socket.number(), SHUT_WR);
}
}  // namespace

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

// Listeners that share one limit.
struct Allowance {
  Allowance(size_t most, size_t place) : limit(most), index(place) {}

  const size_t limit;
  const size_t index;  // Into Shard::peers.
  std::atomic<size_t> open{0};
};

// A listening socket that waits for its loop to start.
struct Listening {
  Descriptor socket;
  size_t shard;
  Protocol* protocol;
  const TlsContext* tls;
  Allowance* allowance;
};

struct Server::State {
  explicit State(Options chosen) : options(chosen) {
    if (options.threads <= 0) options.threads = usable_cpus();
    for (int i = 0; i < options.threads; ++i) {
      shards.push_back(std::make_unique<Shard>(options.timeouts));
      visits.add(shards.back()->loop);
    }
    add_allowance(options.max_connections);
  }

  Allowance& add_allowance(size_t limit);
  Detached accept_connections(Shard& shard, Listening listening);
  Task<void> take_in(Shard& shard, Descriptor socket, std::string peer, const Listening& listening);
  bool is_full(const Shard& shard, const Allowance& allowance, std::string_view newcomer) const;
  void open_connection(Shard& shard, Descriptor socket, std::string peer, const Listening& from);
  Task<void> make_room(Shard& shard, const Allowance& allowance, std::string newcomer);
  bool yield_one(Shard& shard, const Allowance& allowance, std::string_view newcomer, bool resting);
  Detached serve(Shard& shard, std::list<Connection>::iterator connection, Protocol& protocol,
                 Allowance& allowance);
  Detached begin_draining(Shard& shard);
  Detached cut_connections(Shard& shard);
  void one_ended();
  bool wait_for_end(std::chrono::milliseconds longest);

  Options options;
  std::vector<std::unique_ptr<Protocol>> http_protocols;
  std::vector<Listening> listening;                    // Until start().
  std::vector<std::unique_ptr<Allowance>> allowances;  // The first is that of most listeners.
  std::vector<std::unique_ptr<Shard>> shards;
  LoopVisits visits;
  std::vector<std::thread> threads;
  std::atomic<size_t> running{0};  // Coroutines that hold on to a loop: acceptors and connections.
  Mutex mutex;
  ConditionVariable all_ended;
};

Server::Server(Options options) : state_(std::make_unique<State>(options)) {}

Server::~Server() { drain_and_stop(std::chrono::milliseconds(0)); }

Allowance& Server::State::add_allowance(size_t limit) {
  allowances.push_back(std::make_unique<Allowance>(limit, allowances.size()));
  for (auto& shard : shards) shard->peers.push_back(std::make_unique<Peers>());
  return *allowances.back();
}

Result<Endpoint, std::string> Server::listen(const std::string& host, uint16_t port,
                                             http::Handler& handler, const TlsContext* tls,
                                             size_t own_connections) {
  state_->http_protocols.push_back(std::make_unique<HttpProtocol>(handler));
  return listen(host, port, *state_->http_protocols.back(), tls, own_connections);
}

Result<Endpoint, std::string> Server::listen(const std::string& host, uint16_t port,
                                             Protocol& protocol, const TlsContext* tls,
                                             size_t own_connections) {
  CHECK(state_->threads.empty());
  Allowance& allowance =
      own_connections == 0 ? *state_->allowances.front() : state_->add_allowance(own_connections);
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
      state_->listening.push_back({std::move((*sockets)[i]), i, &protocol, tls, &allowance});
    }
  }
  if (endpoint.port == 0) return Failure{unavailable};
  return endpoint;
}

void Server::start() {
  CHECK(state_->threads.empty());
  std::signal(SIGPIPE, SIG_IGN);
  os::raise_descriptor_limit();
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
    bool hindered = false;  // Said so already.
    while (!shard.draining) {
      Address peer;
      peer.length = sizeof peer.storage;
      Descriptor accepted(
          accept4(socket.descriptor(), peer.raw(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (accepted.number() >= 0) {
        co_await take_in(shard, std::move(accepted), peer.host(), from);
        hindered = false;
      } else if (errno == EAGAIN) {
        socket.would_block(Direction::kRead);
        co_await socket.wait(Direction::kRead, Timer::kNever);
      } else if (!is_of_that_connection(errno)) {
        if (!std::exchange(hindered, true))
          log_warning(std::string("cannot accept connections now: ") + std::strerror(errno));
        co_await make_room(shard, *from.allowance, {});
        co_await shard.loop.sleep_until(shard.loop.now_ms() + kAcceptRestMs);
      }
    }
    std::erase(shard.listening, &socket);
  }
  one_ended();
}

// Asks one connection to yield, one that rests or one whose request stalls. On the shard's thread.
bool Server::State::yield_one(Shard& shard, const Allowance& allowance, std::string_view newcomer,
                              bool resting) {
  const Peers& peers = *shard.peers[allowance.index];
  const auto waited_ms = [](const Peers::Seat& seat) { return seat.connection()->waited_ms(); };
  const auto waits = [&](const Peers::Seat& seat) { return waited_ms(seat) >= 0; };
  const Peers::Seat* seat =
      resting ? peers.find_resting(newcomer, waits)
              : peers.find_stalled(newcomer, options.timeouts.stall.count(), waited_ms);
  if (seat == nullptr) return false;
  shard.yielded.add(1);
  if (resting) {
    seat->connection()->stop_resting();
  } else {
    seat->connection()->cut();
  }
  return true;
}

// Ends one connection if any can yield, here or on another loop. Each loop decides by its own
// connections, over which the kernel spreads those of every peer.
Task<void> Server::State::make_room(Shard& shard, const Allowance& allowance,
                                    std::string newcomer) {
  Peers& peers = *shard.peers[allowance.index];
  if (shard.loop.now_ms() < peers.nobody_yields_until_ms) co_return;
  const auto here =
      static_cast<size_t>(std::find_if(shards.begin(), shards.end(),
                                       [&](const auto& each) { return each.get() == &shard; }) -
                          shards.begin());
  bool yielded = false;
  for (const bool resting : {true, false}) {
    for (size_t i = 0; i < shards.size() && !yielded; ++i) {
      Shard& there = *shards[(here + i) % shards.size()];
      if (Executor::current() != &there.loop) co_await there.loop.turn();
      yielded = yield_one(there, allowance, newcomer, resting);
      if (yielded) co_await there.loop.turn();  // It ends meanwhile.
    }
  }
  if (Executor::current() != &shard.loop) co_await shard.loop.turn();
  if (!yielded) peers.nobody_yields_until_ms = shard.loop.now_ms() + kYieldRestMs;
}

Task<void> Server::State::take_in(Shard& shard, Descriptor socket, std::string peer,
                                  const Listening& from) {
  shard.accepted.add(1);
  Allowance& allowance = *from.allowance;
  const std::string network = peer_network(peer);
  if (is_full(shard, allowance, network)) co_await make_room(shard, allowance, network);
  const bool full = is_full(shard, allowance, network);
  if (full || allowance.open.fetch_add(1) >= allowance.limit) {
    if (!full) --allowance.open;
    shard.refused.add(1);
    if (from.tls == nullptr) refuse_connection(socket, from.protocol->refusal());
    co_return;
  }
  open_connection(shard, std::move(socket), std::move(peer), from);
}

// For this newcomer: who has most of the places already does not get the last ones.
bool Server::State::is_full(const Shard& shard, const Allowance& allowance,
                            std::string_view newcomer) const {
  const size_t open = allowance.open;
  if (open >= allowance.limit) return true;
  if (open < allowance.limit - allowance.limit / kPartForOthers) return false;
  const size_t own = shard.peers[allowance.index]->count(newcomer) * shards.size();
  return own > allowance.limit / 2;
}

void Server::State::open_connection(Shard& shard, Descriptor socket, std::string peer,
                                    const Listening& from) {
  ++running;
  Allowance& allowance = *from.allowance;
  try {
    shard.connections.emplace_front(shard, std::move(socket), std::move(peer), from.tls,
                                    *shard.peers[allowance.index]);
  } catch (const std::bad_alloc&) {
    log_error("out of memory for a new connection");
    --allowance.open;
    one_ended();
    return;
  }
  serve(shard, shard.connections.begin(), *from.protocol, allowance);
}

Detached Server::State::serve(Shard& shard, std::list<Connection>::iterator connection,
                              Protocol& protocol, Allowance& allowance) {
  try {
    const bool secured = co_await connection->handshake();
    if (secured) co_await protocol.serve(*connection);
  } catch (const std::exception& error) {
    log_error(std::string("a connection is cut because of an exception: ") + error.what());
  }
  shard.connections.erase(connection);
  --allowance.open;
  one_ended();
}

void Server::State::one_ended() {
  if (running.fetch_sub(1) > 1) return;
  MutexLock lock(mutex);
  all_ended.notify_all();
}

bool Server::State::wait_for_end(std::chrono::milliseconds longest) {
  MutexLock lock(mutex);
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

LoopVisits& Server::visits() { return state_->visits; }

Task<bool> Server::loops_turn(std::chrono::milliseconds longest) {
  const auto here =
      std::find_if(state_->shards.begin(), state_->shards.end(),
                   [](const auto& shard) { return &shard->loop == Executor::current(); });
  CHECK(here != state_->shards.end());
  return state_->visits.all_turn((*here)->loop, longest);
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
  sum.connections_limit = state_->allowances.front()->limit;
  for (const auto& allowance : state_->allowances) sum.connections_open += allowance->open;
  for (const auto& shard : state_->shards) {
    sum.connections_accepted += shard->accepted.value();
    sum.connections_refused += shard->refused.value();
    sum.connections_yielded += shard->yielded.value();
    sum.requests += shard->requests.value();
    sum.bytes_in += shard->bytes_in.value();
    sum.bytes_out += shard->bytes_out.value();
  }
  return sum;
}

}  // namespace kyanite::net
