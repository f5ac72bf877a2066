// Lines to a descriptor, written by a thread of its own: whoever has something to say never waits
// for whoever should read it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"

namespace kyanite {

// Thread-safe. Lines come out whole and in the order of write(). When the reader is too slow and
// kMaxQueuedBytes wait already, lines are left out and counted, until what waits was taken: one
// long gap instead of many short ones. Where lines are missing, a line says how many.
class LineWriter {
 public:
  static constexpr size_t kMaxQueuedBytes = 1024 * 1024;
  // Makes the line, with its end, that stands for `count` missing ones.
  using TellGap = std::string (*)(uint64_t count);

  // Does not own the descriptor.
  LineWriter(int descriptor, TellGap tell_gap);
  // Leaves out what nobody has taken yet: flush first.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // With its line end.
  void write(std::string_view line);
  // Waits until everything was written; false when that takes longer.
  bool flush(std::chrono::milliseconds longest);
  // Lines that were left out since the beginning.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  // What is written in one go. The gap stands behind the lines when the queue was full behind them,
  // before them when earlier lines could not be written.
  struct Batch {
    std::string lines;
    std::string gap;
    bool gap_last = false;
  };

  void loop();
  bool nothing_to_do() const REQUIRES(mutex_) { return queued_.empty() && !full_; }
  Batch take_batch() REQUIRES(mutex_);
  uint64_t write_lines(std::string_view lines);
  bool write_out(std::string_view& rest);
  bool wait_for_room();

  const int descriptor_;
  const TellGap tell_gap_;
  // Negative where descriptors had run out, which is worth a line, too: then an end waits for the
  // reader.
  const int stop_event_;
  std::atomic<uint64_t> dropped_{0};

  Mutex mutex_;
  ConditionVariable work_;
  ConditionVariable idle_;
  std::string queued_ GUARDED_BY(mutex_);
  bool full_ GUARDED_BY(mutex_) =
      false;  // Lines are left out until the writer has come to the end of queued_.
  bool writing_ GUARDED_BY(mutex_) = false;
  bool stopping_ GUARDED_BY(mutex_) = false;
  uint64_t told_ GUARDED_BY(mutex_) = 0;  // How many missing lines the reader knows of.
  std::thread thread_;
};

}  // namespace kyanite
