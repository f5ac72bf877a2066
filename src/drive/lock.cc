// LOCK: takes locks of byte ranges, perhaps once they are free, or gives them back.
#include <functional>
#include <limits>
#include <vector>

#include "base/random.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_status.h"
#include "drive/limits.h"
#include "smb/file_io.h"

namespace kyanite::drive {

namespace {

using smb::Status;
namespace flag = smb::lock_flag;

bool is_unlock(const smb::LockElement& element) { return element.flags == flag::kUnlock; }

// Of those that take: several take at once or not at all.
Status check_flags(const std::vector<smb::LockElement>& elements) {
  for (const auto& element : elements) {
    const uint32_t kind = element.flags & ~flag::kFailImmediately;
    if (kind != flag::kShared && kind != flag::kExclusive) return Status::kInvalidParameter;
    if (elements.size() > 1 && (element.flags & flag::kFailImmediately) == 0)
      return Status::kInvalidParameter;
  }
  return Status::kSuccess;
}

bool is_beyond(const smb::LockElement& element) {
  return element.length != 0 &&
         element.offset > std::numeric_limits<uint64_t>::max() - (element.length - 1);
}

tree::RangeLock lock_of(const smb::LockElement& element) {
  return {{element.offset, element.length}, (element.flags & flag::kExclusive) != 0};
}

// One after the other: what is given back stays so when a later one is wrong.
Status unlock(const Open& open, const std::vector<smb::LockElement>& elements) {
  std::vector<tree::ByteRange> ranges;
  for (const auto& element : elements) {
    if (!is_unlock(element)) break;
    ranges.push_back({element.offset, element.length});
  }
  const auto done = open.file.tree.open_files->unlock(open.file.handle, ranges);
  if (!done) return status_of(done.error());
  return ranges.size() == elements.size() ? Status::kSuccess : Status::kInvalidParameter;
}

// Of what a snapshot shows: nobody writes to it, so that all may have what they ask for.
Status lock_shown(const std::vector<smb::LockElement>& elements, bool unlocks) {
  for (const auto& element : elements) {
    if (unlocks && !is_unlock(element)) return Status::kInvalidParameter;
    if (!unlocks && is_beyond(element)) return Status::kInvalidLockRange;
  }
  return Status::kSuccess;
}

Status refusal_of(tree::Refusal refusal) {
  return refusal == tree::Refusal::kLockConflict ? Status::kLockNotGranted : status_of(refusal);
}

Status cancelled_status(const Exchange& exchange) {
  return exchange.cancelled() == Exchange::Cancelled::kByClient ? Status::kCancelled
                                                                : Status::kRangeNotLocked;
}

Task<Status> wait_for_lock(Exchange& exchange, const Open& open, tree::RangeLock lock) {
  if (exchange.cancelled()) co_return cancelled_status(exchange);
  switch (exchange.go_async()) {
    case Exchange::Async::kTold:
      break;
    case Exchange::Async::kInChain:  // What follows in the chain would wait for ever.
      co_return Status::kLockNotGranted;
    case Exchange::Async::kTooMany:
      co_return Status::kInsufficientResources;
  }
  tree::OpenFiles& table = *open.file.tree.open_files;
  const tree::HandleId handle = open.file.handle;
  const uint64_t ticket = random_u64();  // Ids of messages are those of one connection of several.
  // Not before: a cancellation is told once, and must find something that waits.
  const std::function<void()> waits = [&] {
    exchange.when_cancelled([&table, handle, ticket] { table.cancel_lock(handle, ticket); });
  };
  auto done = co_await table.lock_when_free(handle, lock, ticket, waits);
  exchange.when_cancelled(nullptr);
  if (done) co_return Status::kSuccess;
  if (done.error() != tree::Refusal::kCancelled) co_return refusal_of(done.error());
  co_return cancelled_status(exchange);
}

Task<Status> take(Exchange& exchange, const Open& open,
                  const std::vector<smb::LockElement>& elements) {
  std::vector<tree::RangeLock> locks;
  for (const auto& element : elements) {
    if (is_beyond(element)) co_return Status::kInvalidLockRange;
    locks.push_back(lock_of(element));
  }
  const tree::RangeLock first = locks.front();
  tree::OpenFiles& table = *open.file.tree.open_files;
  auto done = co_await table.lock(open.file.handle, std::move(locks));
  if (done) co_return Status::kSuccess;
  const bool waits = (elements.front().flags & flag::kFailImmediately) == 0;
  if (done.error() != tree::Refusal::kLockConflict || !waits) co_return refusal_of(done.error());
  co_return co_await wait_for_lock(exchange, open, first);
}

}  // namespace

Task<Reply> lock(Exchange& exchange) {
  const auto request = smb::decode<smb::LockRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  const bool unlocks = is_unlock(request->locks.front());
  const Status wrong = unlocks ? Status::kSuccess : check_flags(request->locks);
  if (wrong != Status::kSuccess) co_return refuse(exchange, wrong);
  if (open->file.directory) co_return refuse(exchange, Status::kInvalidParameter);
  const uint32_t index = request->sequence_index();
  if (open->sequences.is_done(index, request->sequence_number()))
    co_return reply(exchange, smb::LockReply());
  open->sequences.begin(index);
  Status status = Status::kSuccess;
  if (open->file.handle == 0) {
    status = lock_shown(request->locks, unlocks);
  } else if (unlocks) {
    status = unlock(*open, request->locks);
  } else {
    status = co_await take(exchange, *open, request->locks);
  }
  if (status != Status::kSuccess) co_return refuse(exchange, status);
  open->sequences.done(index, request->sequence_number());
  co_return reply(exchange, smb::LockReply());
}

}  // namespace kyanite::drive
