// What systemd is told of a service of Type=notify, in its protocol: datagrams to a socket that the
// environment names. Whoever was not started by it tells nobody.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kyanite::server {

class Supervisor {
 public:
  // The values of NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID; "" for what is not there.
  Supervisor(std::string socket, std::string_view watchdog_us, std::string_view watchdog_pid);
  static Supervisor of_environment();

  // "READY=1", "STOPPING=1", "WATCHDOG=1"; several, each on its line. Nothing hangs on whether it
  // arrives.
  void tell(std::string_view state) const;

  // Within which time it wants to hear WATCHDOG=1, if at all.
  std::optional<std::chrono::milliseconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;  // "": nobody listens. A first '@' stands for an abstract name.
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace kyanite::server
