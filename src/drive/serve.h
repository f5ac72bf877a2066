// SMB on TCP: brings frames from a socket to a Connection and back.
#pragma once

#include <chrono>

#include "drive/drive.h"
#include "drive/limits.h"
#include "net/server.h"

namespace kyanite::drive {

class SmbProtocol final : public net::Protocol {
 public:
  // For tests. Every wait on a peer ends by one of these or of net::Timeouts.
  struct Times {
    std::chrono::milliseconds logon = kLogonTime;
    std::chrono::milliseconds idle = kIdleTime;
  };

  // `drive` outlives this.
  explicit SmbProtocol(Drive& drive) : SmbProtocol(drive, Times()) {}
  SmbProtocol(Drive& drive, Times times) : drive_(drive), times_(times) {}
  Task<void> serve(net::Connection& connection) override;

 private:
  Drive& drive_;
  const Times times_;
};

}  // namespace kyanite::drive
