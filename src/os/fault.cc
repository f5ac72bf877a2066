#include "os/fault.h"

#include <mutex>
#include <shared_mutex>

namespace kyanite::os {

namespace fault_internal {
std::atomic<bool> armed{false};

namespace {
struct Installed {
  std::shared_mutex mutex;
  FaultHook hook;
};
Installed& installed() {
  static auto* only = new Installed;  // Never destroyed: threads may still write files at exit.
  return *only;
}
}  // namespace

Fault ask(SystemCall call, std::string_view path) {
  std::shared_lock lock(installed().mutex);
  return installed().hook ? installed().hook(call, path) : Fault{};
}
}  // namespace fault_internal

void set_fault_hook(FaultHook hook) {
  auto& installed = fault_internal::installed();
  std::unique_lock lock(installed.mutex);
  installed.hook = std::move(hook);
  fault_internal::armed = static_cast<bool>(installed.hook);
}

}  // namespace kyanite::os
