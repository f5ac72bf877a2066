#include "server/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/bytes.h"

namespace kyanite::server {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Supervisor::Supervisor(std::string socket, std::string_view watchdog_us,
                       std::string_view watchdog_pid)
    : socket_(std::move(socket)) {
  const auto us = parse_uint(watchdog_us);
  const bool ours = watchdog_pid.empty() || watchdog_pid == std::to_string(getpid());
  if (socket_.empty() || !us || *us < 1000 || !ours) return;
  watchdog_ = std::chrono::milliseconds(*us / 1000);
}

Supervisor Supervisor::of_environment() {
  return {variable("NOTIFY_SOCKET"), variable("WATCHDOG_USEC"), variable("WATCHDOG_PID")};
}

void Supervisor::tell(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address), length);
  close(descriptor);
}

}  // namespace kyanite::server
