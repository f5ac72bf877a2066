#include "net/client.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <list>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "http/reply_head.h"
#include "net/connection.h"
#include "net/inbox.h"
#include "net/listener.h"
#include "net/public_address.h"
#include "net/request_body.h"
#include "net/tls.h"

namespace kyanite::net {

using http::FetchError;
using http::Url;
using Lines = http::Fetcher::Lines;
template <class T>
using Fetch = Result<T, FetchError>;

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

// Bytes that a request line cannot carry as they are.
std::string escape(std::string_view target) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// What is asked, beside where and with which headers.
struct Asked {
  std::string_view method = "GET";
  std::optional<std::string_view> body;
};

std::string request_head(const Asked& asked, const Url& url, const Lines& headers,
                         const Lines& credentials) {
  std::string head(asked.method);
  head.append(" ").append(escape(url.target())).append(" HTTP/1.1\r\n");
  append_line(head, "Host", url.authority());
  append_line(head, "User-Agent", "kyanite");
  append_line(head, "Accept", "*/*");
  append_line(head, "Accept-Encoding", "identity");
  append_line(head, "Connection", "close");
  if (asked.body) append_line(head, "Content-Length", std::to_string(asked.body->size()));
  for (const Lines* lines : {&headers, &credentials}) {
    for (const auto& [name, value] : *lines) append_line(head, name, value);
  }
  return head + "\r\n";
}

}  // namespace

// One connection with the reply that comes over it. Lives on the client's loop.
struct Exchange {
  Exchange(Shard& shard, Descriptor socket, std::string peer, ssl_st* tls, int64_t until_ms)
      : connection(shard, std::move(socket), std::move(peer), tls), deadline_ms(until_ms) {}

  Task<Fetch<void>> send(std::string_view request, std::string_view sent_body);
  Task<Fetch<void>> receive_head();
  Task<Fetch<Buffer>> next();
  FetchError failed(FetchError::Kind kind, std::string what) const;

  Connection connection;
  const int64_t deadline_ms;
  bool late = false;     // Cut because the deadline has passed.
  bool stopped = false;  // Cut because the client stops.
  Inbox inbox;
  std::string head_text;
  http::ReplyHead head;
  std::optional<RequestBody> body;
  bool ended = false;
};

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
  Task<Fetch<std::unique_ptr<Exchange>>> ask(const Asked& asked, const Url& url,
                                             const Lines& headers, const Lines& credentials,
                                             const std::string& account, int64_t deadline_ms);
  Task<Fetch<std::vector<Address>>> find_addresses(const Url& url, const std::string& account);
  Task<Lookups::Addresses> look_up(const Url& url, const std::string& account);
  FetchError not_found(const Url& url, Lookups::Error why);
  Fetch<std::unique_ptr<Exchange>> connect(const Address& address, const Url& url,
                                           int64_t deadline_ms);

  // Runs a task on the loop; its result arrives where this is awaited.
  template <class T>
  Task<T> on_loop(Task<T> task);
  template <class T>
  Detached start(Task<T> task, Pending<T>& result);
  Detached drop(std::unique_ptr<Exchange> exchange);
  void begin_watch();
  Detached watch();
  Detached cut_all();
  void keep(Exchange& exchange);
  void begin() { ++running; }
  void end();

  const ClientOptions options;
  const std::unique_ptr<TlsContext> tls;
  Lookups lookups;
  Shard shard;
  std::thread thread;
  std::list<Exchange*> open;  // On the loop.
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
  ClientReply(Client::State& state, std::unique_ptr<Exchange> exchange)
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
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace

FetchError Exchange::failed(FetchError::Kind kind, std::string what) const {
  if (stopped) return {FetchError::kBusy, "This server stops."};
  if (late) return {FetchError::kTimeout, "The copy source takes too long."};
  return {kind, std::move(what)};
}

Task<Fetch<void>> Exchange::send(std::string_view request, std::string_view sent_body) {
  if (!co_await connection.handshake()) {
    co_return failed(FetchError::kUnreachable,
                     "The copy source cannot be connected to, or its certificate is not trusted.");
  }
  iovec pieces[] = {{const_cast<char*>(request.data()), request.size()},
                    {const_cast<char*>(sent_body.data()), sent_body.size()}};
  const std::span<iovec> sent(pieces, sent_body.empty() ? 1 : 2);
  if (!co_await connection.write_all(sent))
    co_return failed(FetchError::kUnreachable, "The copy source cannot be connected to.");
  co_return {};
}

Task<Fetch<void>> Exchange::receive_head() {
  const int64_t until = connection.now_ms() + connection.shard().timeouts.head.count();
  while (true) {
    if (const auto end = http::find_head_end(inbox.unread())) {
      head_text = inbox.unread().substr(0, *end);
      inbox.consume(*end);
      auto parsed = http::parse_reply_head(head_text);
      if (!parsed)
        co_return failed(FetchError::kBadReply, "The copy source sent a malformed reply.");
      if (parsed->status < 200) continue;  // The real one follows.
      head = std::move(*parsed);
      break;
    }
    if (inbox.unread().size() >= http::kMaxHeadBytes)
      co_return failed(FetchError::kBadReply, "The copy source sent too many headers.");
    if (inbox.room() == 0) inbox.make_room();
    const Progress progress = inbox.receive(connection);
    if (progress.step == Progress::kMoved) continue;
    if (progress.step == Progress::kEnd || progress.step == Progress::kFailed)
      co_return failed(FetchError::kUnreachable, "The copy source closed the connection.");
    const Wake wake = co_await connection.wait(progress.step, until);
    if (wake == Wake::kTimedOut)
      co_return failed(FetchError::kTimeout, "The copy source did not answer in time.");
    if (wake != Wake::kReady)
      co_return failed(FetchError::kUnreachable, "The copy source closed the connection.");
  }
  http::Head framing;
  framing.framing = head.framing;
  framing.content_length = head.content_length;
  if (inbox.room() == 0) inbox.make_room();
  body.emplace(connection, inbox, framing);
  co_return {};
}

Task<Fetch<Buffer>> Exchange::next() {
  const auto error = [this](http::BodyError why) {
    switch (why) {
      case http::BodyError::kTimeout:
        return failed(FetchError::kTimeout, "The copy source stopped sending.");
      case http::BodyError::kMalformed:
        return failed(FetchError::kBadReply, "The copy source sent a malformed body.");
      case http::BodyError::kDisconnected:
        return failed(FetchError::kCutShort, "The copy source broke off.");
    }
    CHECK(false);
  };
  if (!head.until_close) {
    auto chunk = co_await body->next();
    if (!chunk) co_return error(chunk.error());
    co_return std::move(*chunk);
  }
  Buffer out(kChunkBytes);
  const std::string_view early = inbox.unread();
  out.append(early);
  inbox.consume(early.size());
  while (!ended && out.room() > 0) {
    const Progress progress = connection.read_some(out.data() + out.size(), out.room());
    if (progress.step == Progress::kMoved) {
      out.resize(out.size() + progress.bytes);
    } else if (progress.step == Progress::kEnd) {
      ended = true;
    } else if (progress.step == Progress::kFailed) {
      co_return error(http::BodyError::kDisconnected);
    } else {
      const int64_t until = connection.now_ms() + connection.shard().timeouts.body.count();
      const Wake wake = co_await connection.wait(progress.step, until);
      if (wake != Wake::kReady) {
        co_return error(wake == Wake::kTimedOut ? http::BodyError::kTimeout
                                                : http::BodyError::kDisconnected);
      }
    }
  }
  co_return out;
}

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

Detached Client::State::drop(std::unique_ptr<Exchange> exchange) {
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
    for (Exchange* exchange : open) {
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

void Client::State::keep(Exchange& exchange) {
  open.push_back(&exchange);
  begin();
  begin_watch();
}

Detached Client::State::cut_all() {
  co_await shard.loop.turn();
  lookups.expire(Timer::kNever);
  for (Exchange* exchange : open) {
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

Fetch<std::unique_ptr<Exchange>> Client::State::connect(const Address& address, const Url& url,
                                                        int64_t deadline_ms) {
  const FetchError unreachable{FetchError::kUnreachable, "The copy source cannot be connected to."};
  Descriptor socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.number() < 0) return unreachable;
  if (::connect(socket.number(), address.raw(), address.length) != 0 && errno != EINPROGRESS)
    return unreachable;
  ssl_st* session = url.secure ? tls->open_client_session(socket.number(), url.host) : nullptr;
  auto exchange =
      std::make_unique<Exchange>(shard, std::move(socket), address.host(), session, deadline_ms);
  keep(*exchange);
  return exchange;
}

// Connects to the first address that lets it, sends the request and receives the head of the reply.
Task<Fetch<std::unique_ptr<Exchange>>> Client::State::ask(const Asked& asked, const Url& url,
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
