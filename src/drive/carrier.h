// What brings a connection's frames to its peer. The program's are TCP connections (serve.cc),
// those of tests are lists in memory.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/executor.h"
#include "base/task.h"

namespace kyanite::drive {

// Used on the connection's loop.
class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual Executor& loop() const = 0;
  virtual std::string_view peer() const = 0;  // numeric IP address
  virtual std::string local() const = 0;      // The one by which the peer reached us.

  // Sends all bytes; one call at a time. May change `pieces`. False when the peer is gone or takes
  // too little.
  virtual Task<bool> write(std::span<iovec> pieces) = 0;
  // Whether the peer's machine has confirmed everything that was sent.
  virtual bool all_arrived() const = 0;
  virtual Task<void> sleep(std::chrono::milliseconds time) = 0;
  // Ends the connection: whoever waits for its next frame learns that none comes.
  virtual void cut() = 0;
};

}  // namespace kyanite::drive
