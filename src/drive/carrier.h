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
#include "os/file.h"

namespace kyanite::drive {

// Used on the connection's loop.
class Carrier {
 public:
  virtual ~Carrier() = default;

  virtual Executor& loop() const = 0;
  virtual std::string_view peer() const = 0;  // numeric IP address
  virtual std::string local() const = 0;      // The one by which the peer reached us.

  // Sends all bytes; one call at a time. May change `pieces`. False when the peer is gone or takes
  // too little. With `more` the frame is not at its end.
  virtual Task<bool> write(std::span<iovec> pieces, bool more = false) = 0;
  // The same for bytes of a file, which should be in the page cache. False also when they cannot be
  // read.
  virtual Task<bool> write_file(os::FileSlice slice) = 0;
  // Whether the peer's machine has confirmed everything that was sent.
  virtual bool all_arrived() const = 0;
  virtual Task<void> sleep(std::chrono::milliseconds time) = 0;
  // Ends the connection: whoever waits for its next frame learns that none comes.
  virtual void cut() = 0;
};

}  // namespace kyanite::drive
