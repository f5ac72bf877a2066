#include "server/health_check.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/bytes.h"

namespace kyanite::server {

namespace {

constexpr std::chrono::milliseconds kPatience{5'000};

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

std::string reason() { return std::strerror(errno == EAGAIN ? ETIMEDOUT : errno); }

// Each step gets the whole time; there are three.
void limit(int descriptor, std::chrono::milliseconds timeout) {
  const auto ms = timeout.count();
  const timeval limit{static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

// An address that means every address is reached at the loopback one.
std::string reachable(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "::1" : host;
}

// Of "HTTP/1.1 200 OK".
std::optional<int> status_of(std::string_view head) {
  constexpr size_t kStatusAt = 9;
  if (!head.starts_with("HTTP/1.1 ")) return {};
  const auto status = parse_uint(head.substr(kStatusAt, 3));
  return status ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

}  // namespace

Result<int, std::string> ask_health(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string where = reachable(host);
  if (getaddrinfo(where.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return Failure{where + " is no address"};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, freeaddrinfo);
  const Socket socket_(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket_.get() < 0) return Failure{reason()};
  limit(socket_.get(), timeout);
  if (connect(socket_.get(), address->ai_addr, address->ai_addrlen) != 0) return Failure{reason()};
  const std::string request =
      "GET /healthz HTTP/1.1\r\nHost: " + where + "\r\nConnection: close\r\n\r\n";
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return Failure{reason()};
  }
  std::array<char, 64> head{};
  const ssize_t got = recv(socket_.get(), head.data(), head.size(), MSG_WAITALL);
  if (got < 0) return Failure{reason()};
  const auto status = status_of({head.data(), static_cast<size_t>(got)});
  if (!status) return Failure{std::string("the answer is not HTTP")};
  return *status;
}

Result<void, std::string> check_health(const Options& options) {
  const ListenOptions& admin = options[Listener::kAdmin];
  const auto status = ask_health(admin.host, admin.port, kPatience);
  const std::string where = admin.host + ":" + std::to_string(admin.port);
  if (!status) return Failure{"no health at " + where + ": " + status.error()};
  if (*status != 200) {
    return Failure{"the server at " + where + " is not well: status " + std::to_string(*status)};
  }
  return {};
}

}  // namespace kyanite::server
