// Why something cannot be done in a tree, in no protocol's words. Each front turns it into its own:
// file/refusals.cc into the errors of REST.
#pragma once

#include <cstdint>
#include <variant>

#include "base/result.h"
#include "concurrency/lease.h"
#include "store/store.h"
#include "store/transact.h"

namespace kyanite::tree {

enum class Reason : uint8_t {
  // Paths.
  kBadText,  // Not UTF-8.
  kBadName,  // A name that no entry may have.
  kNameTooLong,
  kPathTooLong,
  kPathTooDeep,
  // Entries.
  kNoParent,      // A directory on the way is not there, or is a file.
  kNotFound,      // There is nothing at the end of the way, or not what was asked for.
  kExists,        // Something is where something new was to be.
  kIsDirectory,   // A directory is where a file was to take the place of another.
  kNotDirectory,  // A file is where a directory was asked for.
  kIsRoot,        // The root cannot be deleted.
  kNotEmpty,
  kIntoItself,     // A directory cannot be moved below itself.
  kReadOnly,       // The read-only attribute is set.
  kPendingCopy,    // A copy into the file is under way.
  kMayNotReplace,  // The caller may create but not replace.
  kTooLarge,       // No file is that long.
  kQuotaExceeded,  // The share has no room for more.
  kShownOnly,      // What a snapshot shows cannot be changed.
  // Permissions.
  kBadPermission,         // Not a security descriptor.
  kBadPermissionKey,      // Not a key of a permission.
  kUnknownPermissionKey,  // The share has no such permission.
  // Whoever called with a function of its own was refused by it, and knows why.
  kOwn,
};

// Why what others have open is in the way, or a handle is not good for something.
enum class Refusal : uint8_t {
  kSharingViolation,
  kDeletePending,
  kLockConflict,
  kUndecided,        // Another open is in the way that may still be refused itself.
  kCached,           // Clients were asked to give back what they cache: see OpenFiles::admit().
  kCacheFlushDelay,  // A client did not give back in time what it caches.
  kRangeNotLocked,
  kAccessDenied,  // The handle was not opened with the access that this needs.
  kTooManyHandles,
  kNoSuchHandle,    // Closed, perhaps by force.
  kLeaseElsewhere,  // The key under which an open wants to cache is one of another file's.
  kTooManyWaiting,
  kTooManyLocks,
  kCancelled,  // Whoever waited does not want to any more.
};

struct Error {
  using Cause = std::variant<Reason, Refusal, concurrency::LeaseUseError, store::Error>;
  Cause cause;

  // NOLINTBEGIN: each of them is an error.
  Error(Reason reason) : cause(reason) {}
  Error(Refusal refusal) : cause(refusal) {}
  Error(concurrency::LeaseUseError error) : cause(error) {}
  Error(store::Error error) : cause(error) {}
  // NOLINTEND
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = kyanite::Result<T, Error>;

}  // namespace kyanite::tree

template <>
struct kyanite::store::ErrorTraits<kyanite::tree::Error> {
  static tree::Error from(Error error) { return error; }
  static bool is_conflict(const tree::Error& error) {
    return error == tree::Error(Error::kConflict);
  }
};
