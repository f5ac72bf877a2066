// Counters per command. Counting takes no lock and no allocation. docs/METRICS.md describes what is
// written of them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "smb/numbers.h"

namespace kyanite::drive {

inline constexpr size_t kCommandCount = 19;

struct Metrics {
  struct Row {
    std::atomic<uint64_t> succeeded{0};
    std::atomic<uint64_t> refused{0};
    std::atomic<uint64_t> micros{0};
    std::atomic<uint64_t> received{0};  // bytes
    std::atomic<uint64_t> sent{0};
  };
  std::array<Row, kCommandCount> commands;  // By their numbers.

  std::atomic<uint64_t> connections{0};  // open now
  std::atomic<uint64_t> trees{0};        // connected now
  std::atomic<uint64_t> opens{0};        // open now
  std::atomic<uint64_t> waiting{0};      // requests that were told to wait

  void count(smb::Command command, smb::Status status, std::chrono::steady_clock::duration took,
             uint64_t received_bytes, uint64_t sent_bytes);
};

}  // namespace kyanite::drive
