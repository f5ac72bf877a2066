#include "store/transact.h"

#include <algorithm>
#include <string>

#include "base/log.h"

namespace kyanite::store {

Task<Result<void>> Attempt::wait_for(std::vector<Key> keys) {
  // In one order for all, so that no two wait for each other.
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  turns_.reserve(keys.size());
  for (const Key& key : keys) turns_.push_back(co_await occasion_.locks().lock(key.bytes()));
  if (occasion_.deadline.over()) co_return Error::kTimeout;
  co_return Result<void>();
}

Result<void> Attempt::begin() {
  if (occasion_.deadline.over()) return Error::kTimeout;
  if (number_ == kMaxTries) return Error::kBusy;
  if (number_++ > 0) occasion_.move_on();
  commit = {};
  effects_.clear();
  return {};
}

void tell_failure(const Occasion& occasion, Error error) {
  if (error != Error::kIo && error != Error::kCorrupt) return;
  const Cause& cause = occasion.cause;
  log_error("commit: " + std::string(cause.operation) + " " + std::string(cause.request_id) +
            " of " + std::string(cause.caller) + ": " + describe(error));
}

}  // namespace kyanite::store
