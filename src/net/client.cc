#include "net/client.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "net/client_exchange.h"
#include "net/listener.h"
#include "net/public_address.h"
#include "net/tls.h"

namespace kyanite::net {

using http::FetchError;
using http::Url;
using Lines = http::Fetcher::Lines;

namespace {

// How often the time of whole fetches and of lookups is looked at.
constexpr int64_t kWatchMs = 100;

Timeouts timeouts_of(const ClientOptions& options) {
  Timeouts timeouts;
  timeouts.handshake = options.connect;
  timeouts.send = options.connect;  // The first bytes wait until the connection is made.
  timeouts.head = options.head;
  timeouts.body = options.body;
  return timeouts;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

struct Client::State {
  State(ClientOptions chosen, std::unique_ptr<TlsContext> context, Lookups::Resolve resolve)
      : options(std::move(chosen)),
        tls(std::move(context)),
        lookups(options.lookups, std::move(resolve)),
        shard(timeouts_of(options)) {}

  Task<Fetch<std::unique_ptr<http::Fetched>>> get(Url url, const Lines& headers,
                                                  const Lines& credentials,
                                                  const std::string& account);
  Task<Fetch<std::unique_ptr<http::Fetched>>> send(std::string_view method, const Url& url,
                                                   const Lines& headers, std::string_view body);
  // Counts one more, unless there are too many; the reply or its lack uncounts it.
  std::optional<FetchError> admit();
  Task<Fetch<std::unique_ptr<ClientExchange>>> ask(const Asked& asked, const Url& url,
                                                   const Lines& headers, const Lines& credentials,
                                                   const std::string& account, int64_t deadline_ms);
  Task<Fetch<std::vector<Address>>> find_addresses(const Url& url, const std::string& account);
  Task<Lookups::Addresses> look_up(const Url& url, const std::string& account);
  FetchError not_found(const Url& url, Lookups::Error why);
  Fetch<std::unique_ptr<ClientExchange>> connect(const Address& address, const Url& url,
                                                 int64_t deadline_ms);

  // Runs a task on the loop; its result arrives where this is awaited.
  template <class T>
  Task<T> on_loop(Task<T> task);
  template <class T>
  Detached start(Task<T> task, Pending<T>& result);
  Detached drop(std::unique_ptr<ClientExchange> exchange);
  void begin_watch();
  Detached watch();
  Detached cut_all();
  void keep(ClientExchange& exchange);
  void begin() { ++running; }
  void end();

  const ClientOptions options;
  const std::unique_ptr<TlsContext> tls;
  Lookups lookups;
  Shard shard;
  std::thread thread;
  std::list<ClientExchange*> open;  // On the loop.
  bool watching = false;
  std::atomic<bool> stopping{false};
  std::atomic<size_t> fetches{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<size_t> running{0};  // Coroutines on the loop, and exchanges.
  Mutex mutex;
  ConditionVariable all_ended;
};

namespace {

// What the caller holds of an exchange; may be used and dropped on any thread.
class ClientReply final : public http::Fetched {
 public:
  ClientReply(Client::State& state, std::unique_ptr<ClientExchange> exchange)
      : state_(state), exchange_(std::move(exchange)) {}
  ~ClientReply() override {
    --state_.fetches;
    state_.drop(std::move(exchange_));
  }

  int status() const override { return exchange_->head.status; }
  const http::Headers& headers() const override { return exchange_->head.headers; }
  std::optional<uint64_t> length() const override {
    const http::ReplyHead& head = exchange_->head;
    if (head.framing == http::Framing::kChunked || head.until_close) return {};
    return head.content_length;
  }
  Task<Fetch<Buffer>> next() override { co_return co_await state_.on_loop(exchange_->next()); }

 private:
  Client::State& state_;
  std::unique_ptr<ClientExchange> exchange_;
};

}  // namespace

template <class T>
Task<T> Client::State::on_loop(Task<T> task) {
  Pending<T> result;
  begin();
  start(std::move(task), result);
  co_return co_await result;
}

template <class T>
Detached Client::State::start(Task<T> task, Pending<T>& result) {
  co_await shard.loop.turn();
  T value = co_await std::move(task);
  result.set(std::move(value));
  end();
}

Detached Client::State::drop(std::unique_ptr<ClientExchange> exchange) {
  co_await shard.loop.turn();
  open.remove(exchange.get());
  exchange.reset();
  end();
}

void Client::State::end() {
  if (running.fetch_sub(1) > 1) return;
  MutexLock lock(mutex);
  all_ended.notify_all();
}

// Ends what has taken its whole time. Goes round only while there is something to watch.
Detached Client::State::watch() {
  begin();
  do {
    co_await shard.loop.sleep_until(shard.loop.now_ms() + kWatchMs);
    lookups.expire(shard.loop.now_ms());
    for (ClientExchange* exchange : open) {
      if (exchange->late || shard.loop.now_ms() < exchange->deadline_ms) continue;
      exchange->late = true;
      exchange->connection.cut();
    }
  } while (!open.empty() || lookups.anyone_waits());
  watching = false;
  end();
}

// To be called on the loop once there is something to watch.
void Client::State::begin_watch() {
  if (!std::exchange(watching, true)) watch();
}

void Client::State::keep(ClientExchange& exchange) {
  open.push_back(&exchange);
  begin();
  begin_watch();
}

Detached Client::State::cut_all() {
  co_await shard.loop.turn();
  lookups.expire(Timer::kNever);
  for (ClientExchange* exchange : open) {
    exchange->stopped = true;
    exchange->connection.cut();
  }
  end();
}

// A numeric address is itself; only a name has to be looked up.
Task<Lookups::Addresses> Client::State::look_up(const Url& url, const std::string& account) {
  if (auto numeric = resolve_numeric(url.host, url.port)) co_return std::move(*numeric);
  if (stopping) co_return Lookups::Error::kLate;
  begin_watch();
  co_return co_await lookups.find(url.host, url.port, account, shard.loop.now_ms());
}

FetchError Client::State::not_found(const Url& url, Lookups::Error why) {
  if (stopping) return {FetchError::kBusy, "This server stops."};
  switch (why) {
    case Lookups::Error::kUnknown:
      return {FetchError::kUnknownHost, "There is no host " + url.host + "."};
    case Lookups::Error::kLate:
      return {FetchError::kTimeout, "Nobody told in time where the host " + url.host + " is."};
    case Lookups::Error::kBusy:
      ++refused;
      return {FetchError::kBusy, "This server is looking for too many other hosts."};
  }
  CHECK(false);
}

Task<Fetch<std::vector<Address>>> Client::State::find_addresses(const Url& url,
                                                                const std::string& account) {
  auto found = co_await look_up(url, account);
  if (!found) co_return not_found(url, found.error());
  if (options.allow_private) co_return std::move(*found);
  std::vector<Address> allowed;
  for (const Address& address : *found) {
    if (is_public(address)) allowed.push_back(address);
  }
  if (allowed.empty()) {
    co_return FetchError{
        FetchError::kForbidden,
        "The copy source is at a private address, which this server reads from only when it is "
        "started with --copyFromPrivateAddresses."};
  }
  co_return std::move(allowed);
}

Fetch<std::unique_ptr<ClientExchange>> Client::State::connect(const Address& address,
                                                              const Url& url, int64_t deadline_ms) {
  const FetchError unreachable{FetchError::kUnreachable, "The copy source cannot be connected to."};
  Descriptor socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.number() < 0) return unreachable;
  if (::connect(socket.number(), address.raw(), address.length) != 0 && errno != EINPROGRESS)
    return unreachable;
  ssl_st* session = url.secure ? tls->open_client_session(socket.number(), url.host) : nullptr;
  auto exchange = std::make_unique<ClientExchange>(shard, std::move(socket), address.host(),
                                                   session, deadline_ms);
  keep(*exchange);
  return exchange;
}

// Connects to the first address that lets it, sends the request and receives the head of the reply.
Task<Fetch<std::unique_ptr<ClientExchange>>> Client::State::ask(const Asked& asked, const Url& url,
                                                                const Lines& headers,
                                                                const Lines& credentials,
                                                                const std::string& account,
                                                                int64_t deadline_ms) {
  auto addresses = co_await find_addresses(url, account);
  if (!addresses) co_return addresses.error();
  const std::string request = request_head(asked, url, headers, credentials);
  const std::string_view body = asked.body.value_or(std::string_view());
  FetchError last{FetchError::kUnreachable, "The copy source cannot be connected to."};
  for (const Address& address : *addresses) {
    if (stopping) co_return FetchError{FetchError::kBusy, "This server stops."};
    auto exchange = connect(address, url, deadline_ms);
    if (!exchange) continue;
    auto sent = co_await (*exchange)->send(request, body);
    if (!sent) {
      last = sent.error();
      drop(std::move(*exchange));
      continue;
    }
    auto received = co_await (*exchange)->receive_head();
    if (received) co_return std::move(*exchange);
    drop(std::move(*exchange));
    co_return received.error();
  }
  co_return last;
}

Task<Fetch<std::unique_ptr<http::Fetched>>> Client::State::get(Url url, const Lines& headers,
                                                               const Lines& credentials,
                                                               const std::string& account) {
  const Url first = url;
  const int64_t deadline_ms = shard.loop.now_ms() + options.whole.count();
  for (int hops = 0; hops <= options.max_redirects; ++hops) {
    const Lines shown = url.secure && url.same_origin(first) ? credentials : Lines();
    const Asked asked;
    auto exchange = co_await ask(asked, url, headers, shown, account, deadline_ms);
    if (!exchange) co_return exchange.error();
    const http::ReplyHead& head = (*exchange)->head;
    if (!is_redirect(head.status)) {
      co_return std::unique_ptr<http::Fetched>(
          std::make_unique<ClientReply>(*this, std::move(*exchange)));
    }
    auto next = http::follow(url, head.headers.get("Location"));
    drop(std::move(*exchange));
    if (!next || (url.secure && !next->secure))
      co_return FetchError{FetchError::kBadReply, "The copy source redirects to an unusable URL."};
    url = std::move(*next);
  }
  co_return FetchError{FetchError::kBadReply, "The copy source redirects too often."};
}

Task<Fetch<std::unique_ptr<http::Fetched>>> Client::State::send(std::string_view method,
                                                                const Url& url,
                                                                const Lines& headers,
                                                                std::string_view body) {
  const Asked asked{method, body};
  const Lines no_credentials;
  const std::string no_account;
  const int64_t deadline_ms = shard.loop.now_ms() + options.whole.count();
  auto exchange = co_await ask(asked, url, headers, no_credentials, no_account, deadline_ms);
  if (!exchange) co_return exchange.error();
  co_return std::unique_ptr<http::Fetched>(
      std::make_unique<ClientReply>(*this, std::move(*exchange)));
}

std::optional<FetchError> Client::State::admit() {
  if (stopping) return FetchError{FetchError::kBusy, "This server stops."};
  if (fetches.fetch_add(1) < options.max_at_once) return std::nullopt;
  --fetches;
  ++refused;
  return FetchError{FetchError::kBusy, "This server is reading from too many others."};
}

Result<std::unique_ptr<Client>, std::string> Client::create(ClientOptions options,
                                                            Lookups::Resolve resolve) {
  auto tls = TlsContext::for_clients(options.ca_file);
  if (!tls) return Failure{tls.error()};
  return std::unique_ptr<Client>(
      new Client(std::make_unique<State>(std::move(options), std::move(*tls), std::move(resolve))));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets whose peers have gone.
  state_->thread = std::thread([loop = &state_->shard.loop] { loop->run(); });
  pthread_setname_np(state_->thread.native_handle(), "fetch");
}

Client::~Client() {
  stop();
  MutexLock lock(state_->mutex);
  state_->all_ended.wait(lock, [this] { return state_->running == 0; });
  lock.unlock();
  state_->shard.loop.stop();
  state_->thread.join();
}

void Client::stop() {
  if (state_->stopping.exchange(true)) return;
  state_->begin();
  state_->cut_all();
}

ClientMetrics Client::metrics() const { return {state_->fetches, state_->refused}; }

Task<Fetch<std::unique_ptr<http::Fetched>>> Client::get(Url url, Lines headers, Lines credentials,
                                                        std::string account) {
  State& state = *state_;
  if (auto refused = state.admit()) co_return std::move(*refused);
  auto fetched = co_await state.on_loop(state.get(std::move(url), headers, credentials, account));
  if (!fetched) --state.fetches;
  co_return fetched;
}

Task<Fetch<std::unique_ptr<http::Fetched>>> Client::send(std::string_view method, Url url,
                                                         Lines headers, std::string_view body) {
  State& state = *state_;
  if (auto refused = state.admit()) co_return std::move(*refused);
  auto fetched = co_await state.on_loop(state.send(method, url, headers, body));
  if (!fetched) --state.fetches;
  co_return fetched;
}

}  // namespace kyanite::net
