#include "os/descriptors.h"

#include <sys/resource.h>

namespace kyanite::os {

namespace {
constexpr uint64_t kUsualLimit = 1024;  // Where the system does not say.
}

uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUsualLimit;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

}  // namespace kyanite::os
