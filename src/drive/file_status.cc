#include "drive/file_status.h"

#include <variant>

#include "drive/store_status.h"

namespace kyanite::drive {

namespace {

using smb::Status;
using tree::Reason;
using tree::Refusal;

// One function for each kind of cause.
struct Told {
  Status operator()(Reason reason) const;
  Status operator()(Refusal refusal) const;
  Status operator()(concurrency::LeaseUseError) const { return Status::kSharingViolation; }
  Status operator()(store::Error error) const { return status_of(error); }
};

Status Told::operator()(Reason reason) const {
  switch (reason) {
    case Reason::kBadText:
    case Reason::kBadName:
    case Reason::kNameTooLong:
      return Status::kObjectNameInvalid;
    case Reason::kPathTooLong:
    case Reason::kPathTooDeep:
      return Status::kNameTooLong;
    case Reason::kNoParent:
      return Status::kObjectPathNotFound;
    case Reason::kNotFound:
      return Status::kObjectNameNotFound;
    case Reason::kExists:
      return Status::kObjectNameCollision;
    case Reason::kIsDirectory:
      return Status::kFileIsADirectory;
    case Reason::kNotDirectory:
      return Status::kNotADirectory;
    case Reason::kNotEmpty:
      return Status::kDirectoryNotEmpty;
    case Reason::kIsRoot:
    case Reason::kReadOnly:
      return Status::kCannotDelete;
    case Reason::kIntoItself:
    case Reason::kMayNotReplace:
      return Status::kAccessDenied;
    case Reason::kPendingCopy:
      return Status::kSharingViolation;
    case Reason::kTooLarge:
    case Reason::kBadPermission:
    case Reason::kBadPermissionKey:
    case Reason::kUnknownPermissionKey:
      return Status::kInvalidParameter;
    case Reason::kQuotaExceeded:
      return Status::kDiskFull;
    case Reason::kShownOnly:
      return Status::kMediaWriteProtected;
    case Reason::kOwn:
      break;  // Told by who knows it.
  }
  return Status::kInternalError;
}

Status Told::operator()(Refusal refusal) const {
  switch (refusal) {
    case Refusal::kSharingViolation:
      return Status::kSharingViolation;
    case Refusal::kDeletePending:
      return Status::kDeletePending;
    case Refusal::kLockConflict:
      return Status::kFileLockConflict;
    case Refusal::kCacheFlushDelay:
      return Status::kIoTimeout;
    case Refusal::kRangeNotLocked:
      return Status::kRangeNotLocked;
    case Refusal::kAccessDenied:
      return Status::kAccessDenied;
    case Refusal::kTooManyHandles:
      return Status::kTooManyOpenedFiles;
    case Refusal::kNoSuchHandle:
      return Status::kFileClosed;
    case Refusal::kLeaseElsewhere:
      return Status::kInvalidParameter;
    case Refusal::kTooManyWaiting:
    case Refusal::kTooManyLocks:
      return Status::kInsufficientResources;
    case Refusal::kCancelled:
      return Status::kCancelled;
    case Refusal::kUndecided:
    case Refusal::kCached:
      break;  // Waited for in tree/.
  }
  return Status::kInternalError;
}

}  // namespace

smb::Status status_of(const tree::Error& error) { return std::visit(Told(), error.cause); }

}  // namespace kyanite::drive
