// Where tests make system calls fail. Every raw call on a file asks here first, under os/ and under
// RocksDB alike, so that "the Nth call fails" can be tried for every N. Costs one relaxed load when
// no hook is set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace kyanite::os {

enum class SystemCall {
  kOpen,
  kRead,
  kWrite,
  kAllocate,
  kPunchHole,
  kTruncate,
  kSync,
  kStatus,
  kLock,
  kList,
  kMakeDirectory,
  kRename,
  kRemove,
};

struct Fault {
  int error = 0;              // The call fails with this errno; 0: it is made.
  size_t at_most = SIZE_MAX;  // Reads and writes move no more than this many bytes at a time.
};

// Called from any thread, before the call it decides about.
using FaultHook = std::function<Fault(SystemCall call, std::string_view path)>;

// Replaces the hook of the whole process; an empty function removes it. Returns once no thread runs
// the old one.
void set_fault_hook(FaultHook hook);

namespace fault_internal {
extern std::atomic<bool> armed;
Fault ask(SystemCall call, std::string_view path);
}  // namespace fault_internal

inline Fault fault_before(SystemCall call, std::string_view path) {
  if (!fault_internal::armed.load(std::memory_order_relaxed)) [[likely]]
    return {};
  return fault_internal::ask(call, path);
}

}  // namespace kyanite::os
