// SMB on TCP: brings frames from a socket to a Connection and back.
#pragma once

#include "drive/drive.h"
#include "net/server.h"

namespace kyanite::drive {

class SmbProtocol final : public net::Protocol {
 public:
  // `drive` outlives this.
  explicit SmbProtocol(Drive& drive) : drive_(drive) {}
  Task<void> serve(net::Connection& connection) override;

 private:
  Drive& drive_;
};

}  // namespace kyanite::drive
