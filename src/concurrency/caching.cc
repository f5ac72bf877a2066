#include "concurrency/caching.h"

#include "base/check.h"

namespace kyanite::concurrency {
namespace {

// An oplock goes down to level II or to nothing: there is no level between.
Caching lowered(GrantKind kind, Caching held, Caching kept) {
  if (kind == GrantKind::kLease || kept == held) return kept;
  return kept & kReadCaching;
}

// Gives up `lost`; whoever takes it away waits where one of `awaited` is among what is held.
Effect give_up(GrantKind kind, Caching held, Caching lost, Caching awaited) {
  return {lowered(kind, held, held.without(lost)), held.has(awaited) && held.has(lost)};
}

}  // namespace

Effect on_sharing_conflict(GrantKind kind, Caching held) {
  return give_up(kind, held, kHandleCaching, kHandleCaching);
}

Effect on_open(GrantKind kind, Caching held, OpenReach reach, bool replaces) {
  if (replaces) return give_up(kind, held, kFullCaching, kWriteCaching);
  if (reach == OpenReach::kAttributes) return {held};
  if (reach == OpenReach::kSecurity && kind == GrantKind::kLease) return {held};
  return give_up(kind, held, kWriteCaching, kWriteCaching);
}

Effect on_operation(GrantKind kind, Caching held, FileOperation operation) {
  switch (operation) {
    case FileOperation::kListFiles:
      return {held};
    case FileOperation::kGetFileProperties:
    case FileOperation::kGetFileMetadata:
    case FileOperation::kGetFile:
    case FileOperation::kListRanges:
    case FileOperation::kLeaseFile:
      return give_up(kind, held, kWriteCaching, kWriteCaching);
    case FileOperation::kPutRange:
    case FileOperation::kSetFileProperties:
    case FileOperation::kSetFileMetadata:
    case FileOperation::kCreateFile:
    case FileOperation::kBeginCopy:
      return give_up(kind, held, kFullCaching, kWriteCaching);
    case FileOperation::kDeleteFile:
    case FileOperation::kRenameFile:
      return give_up(kind, held, kHandleCaching, kHandleCaching);
  }
  CHECK(false);
}

Effect on_use(GrantKind kind, Caching held, HandleUse use) {
  switch (use) {
    case HandleUse::kWrite:
      return give_up(kind, held, kFullCaching, kWriteCaching);
    case HandleUse::kMove:
      return give_up(kind, held, kHandleCaching, kHandleCaching);
  }
  CHECK(false);
}

Caching grantable(GrantKind kind, Caching wanted, const Beside& beside) {
  Caching granted = wanted;
  if (beside.opens) granted = granted.without(kWriteCaching);
  if (beside.range_locks || beside.writing) return kNoCaching;
  if (kind == GrantKind::kOplock) {
    if (beside.handle_leases) return kNoCaching;
    if (granted != wanted) granted = granted & kReadCaching;
  } else if (beside.oplocks) {
    granted = granted & kReadCaching;
  }
  // Nothing is cached by those who do not cache reading.
  return granted.has(kReadCaching) ? granted : kNoCaching;
}

}  // namespace kyanite::concurrency
