// CHANGE_NOTIFY: what has changed in a directory since the client asked last, or the next change.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/limits.h"
#include "smb/directory.h"
#include "smb/query.h"

namespace kyanite::drive {

namespace {

using smb::Status;
using tree::Watchers;

smb::NotifyAction action_of(tree::ChangeKind kind) {
  switch (kind) {
    case tree::ChangeKind::kAdded:
      return smb::NotifyAction::kAdded;
    case tree::ChangeKind::kRemoved:
      return smb::NotifyAction::kRemoved;
    case tree::ChangeKind::kModified:
      return smb::NotifyAction::kModified;
    case tree::ChangeKind::kRenamedFrom:
      return smb::NotifyAction::kRenamedOld;
    case tree::ChangeKind::kRenamedTo:
      return smb::NotifyAction::kRenamedNew;
  }
  CHECK(false);
}

Reply tell(const Exchange& exchange, const Watchers::Seen& seen, size_t most_bytes) {
  std::vector<smb::Notification> told;
  for (const auto& change : seen.changes) {
    smb::Notification notification{action_of(change.kind), change.path};
    for (char& letter : notification.name) {
      if (letter == '/') letter = '\\';
    }
    told.push_back(std::move(notification));
  }
  auto output = seen.too_many ? std::nullopt : smb::encode_notifications(told, most_bytes);
  smb::OutputReply body;
  if (output) body.output = *output;
  return reply(exchange, body, output ? Status::kSuccess : Status::kNotifyEnumDir);
}

Status status_of(const Exchange& exchange, Watchers::Ending ending) {
  switch (ending) {
    case Watchers::Ending::kCancelled:
      return exchange.cancelled() == Exchange::Cancelled::kByClient ? Status::kCancelled
                                                                    : Status::kNotifyCleanup;
    case Watchers::Ending::kClosed:
      return Status::kNotifyCleanup;
    case Watchers::Ending::kDeletePending:
      return Status::kDeletePending;
    case Watchers::Ending::kTooMany:
      return Status::kInsufficientResources;
  }
  CHECK(false);
}

}  // namespace

Task<Reply> change_notify(Exchange& exchange) {
  const auto request = smb::decode<smb::ChangeNotifyRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (!open->file.directory || request->output_length > kMaxTransferBytes)
    co_return refuse(exchange, Status::kInvalidParameter);
  if (!open->has(smb::access::kReadData)) co_return refuse(exchange, Status::kAccessDenied);
  Watchers& watchers = open->file.tree.open_files->watchers();
  if (!open->watch) {
    const bool recursive = (request->flags & smb::kWatchTree) != 0;
    const tree::Opened& file = open->file;
    if (file.tree.shown) {
      open->watch = watchers.watch_shown(file.file.share, *file.tree.shown);
    } else {
      auto watch = file.tree.open_files->watch(file.handle, recursive, request->filter);
      if (!watch) co_return refuse(exchange, Status::kFileClosed);
      open->watch = *watch;
    }
    if (!open->watch) co_return refuse(exchange, Status::kInsufficientResources);
    open->watch_bytes = request->output_length;
    // What ended before this could not tell it.
    if (open->file.ended()) co_return refuse(exchange, Status::kFileClosed);
  }
  const size_t most_bytes = std::min(open->watch_bytes, request->output_length);
  const auto id = *open->watch;
  if (const auto kept = watchers.kept(id)) co_return tell(exchange, *kept, most_bytes);
  switch (exchange.go_async()) {
    case Exchange::Async::kTold:
      break;
    case Exchange::Async::kInChain:  // What follows in the chain would wait for ever.
      co_return refuse(exchange, Status::kInternalError);
    case Exchange::Async::kTooMany:
      co_return refuse(exchange, Status::kInsufficientResources);
  }
  // A cancellation is told once, and must find something that waits.
  if (exchange.cancelled()) co_return refuse(exchange, Status::kNotifyCleanup);
  const uint64_t ticket = random_u64();  // Ids of messages are those of one connection of several.
  exchange.when_cancelled([&watchers, id, ticket] { watchers.cancel(id, ticket); });
  auto seen = co_await watchers.next(id, ticket);
  exchange.when_cancelled(nullptr);
  if (!seen) co_return refuse(exchange, status_of(exchange, seen.error()));
  co_return tell(exchange, *seen, most_bytes);
}

}  // namespace kyanite::drive
