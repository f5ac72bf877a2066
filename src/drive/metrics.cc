#include "drive/metrics.h"

namespace kyanite::drive {

void Metrics::count(smb::Command command, smb::Status status,
                    std::chrono::steady_clock::duration took, uint64_t received_bytes,
                    uint64_t sent_bytes) {
  const auto number = static_cast<size_t>(command);
  if (number >= kCommandCount) return;
  Row& row = commands[number];
  // Errors have the two highest bits; to be asked for the next token is none.
  const bool error =
      static_cast<uint32_t>(status) >> 30 == 3 && status != smb::Status::kMoreProcessingRequired;
  (error ? row.refused : row.succeeded).fetch_add(1, std::memory_order_relaxed);
  row.micros.fetch_add(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()),
      std::memory_order_relaxed);
  row.received.fetch_add(received_bytes, std::memory_order_relaxed);
  row.sent.fetch_add(sent_bytes, std::memory_order_relaxed);
}

}  // namespace kyanite::drive
