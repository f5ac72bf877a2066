// Asks other servers over HTTP/1.1, on an event loop of its own.
//
// What is fetched is chosen by clients, so a fetch must not become a way into the operator's
// network: a name is resolved here, its addresses are checked, and the connection is made to a
// checked address, never to the name again. Every redirect is a new URL that is checked like the
// first. Each step and the whole have their time, and a request carries nothing but what it was
// given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/task.h"
#include "http/fetch.h"
#include "net/lookups.h"

namespace kyanite::net {

struct ClientOptions {
  bool allow_private = false;  // Fetch from addresses that are not public, too.
  std::string ca_file;         // Trusted certificates, PEM; empty: the system's.
  int max_redirects = 5;
  size_t max_at_once = 256;                   // Further fetches are refused.
  Lookups::Limits lookups = {};               // Further names, too.
  std::chrono::milliseconds connect{10'000};  // To connect, and for the TLS handshake.
  std::chrono::milliseconds head{30'000};     // From the request to the end of the reply's head.
  std::chrono::milliseconds body{60'000};     // Without one byte of the body.
  std::chrono::milliseconds whole{24 * 3600 * 1000};  // From the request to the body's end.
};

struct ClientMetrics {
  uint64_t fetches_open = 0;
  uint64_t fetches_refused = 0;  // Too many at once, or too many names to look up.
};

class Client final : public http::Fetcher {
 public:
  // Fails when `ca_file` cannot be read.
  static Result<std::unique_ptr<Client>, std::string> create(
      ClientOptions options, Lookups::Resolve resolve = net::resolve);
  // Every reply must have been dropped, or be dropped meanwhile by those who learn of the end.
  ~Client() override;

  Task<Result<std::unique_ptr<http::Fetched>, http::FetchError>> get(http::Url url, Lines headers,
                                                                     Lines credentials,
                                                                     std::string account) override;

  // Sends any request with a body. Redirects are replies like others. The body must outlive it.
  Task<Result<std::unique_ptr<http::Fetched>, http::FetchError>> send(std::string_view method,
                                                                      http::Url url, Lines headers,
                                                                      std::string_view body);

  // Ends what is being fetched, and all later fetches, with kBusy. From any thread.
  void stop();

  // From any thread.
  ClientMetrics metrics() const;

  struct State;

 private:
  explicit Client(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace kyanite::net
