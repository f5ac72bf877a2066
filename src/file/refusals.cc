#include "file/refusals.h"

#include <utility>
#include <variant>

#include "headers/conditions.h"
#include "service/storage.h"

namespace kyanite::file {

using tree::Reason;
using tree::Refusal;
using wire::Code;

namespace {

// One function for each kind of cause.
struct Told {
  wire::Error operator()(Reason reason) const;
  wire::Error operator()(Refusal refused) const;
  wire::Error operator()(concurrency::LeaseUseError error) const {
    return headers::lease_use_error(error, headers::Leased::kFile);
  }
  wire::Error operator()(store::Error error) const { return service::storage_error(error); }
};

wire::Error Told::operator()(Reason reason) const {
  switch (reason) {
    case Reason::kBadText:
      return Code::kInvalidUri;
    case Reason::kBadName:
      return Code::kInvalidResourceName;
    case Reason::kNameTooLong:
      return Code::kOutOfRangeInput;
    case Reason::kPathTooLong:
      return wire::Error(Code::kInvalidFileOrDirectoryPathName)
          .saying("File or directory path is too long.");
    case Reason::kPathTooDeep:
      return wire::Error(Code::kInvalidFileOrDirectoryPathName)
          .saying("File or directory path has too many subdirectories.");
    case Reason::kNoParent:
      return Code::kParentNotFound;
    case Reason::kNotFound:
      return Code::kResourceNotFound;
    case Reason::kExists:
      return Code::kResourceAlreadyExists;
    case Reason::kIsDirectory:
      return Code::kResourceTypeMismatch;
    case Reason::kIsRoot:
      return Code::kInvalidOperation;
    case Reason::kNotEmpty:
      return Code::kDirectoryNotEmpty;
    case Reason::kReadOnly:
      return Code::kReadOnlyAttribute;
    case Reason::kPendingCopy:
      return Code::kPendingCopyOperation;
    case Reason::kMayNotReplace:
      return Code::kAuthorizationPermissionMismatch;
    case Reason::kBadPermission:
      return Code::kFileInvalidPermission;
    case Reason::kUnknownPermissionKey:
      return Code::kFileInvalidPermissionKey;
    // Operations that meet these say which header it is.
    case Reason::kIntoItself:
    case Reason::kBadPermissionKey:
      return Code::kInvalidHeaderValue;
    case Reason::kQuotaExceeded:
      return Code::kShareSizeLimitReached;
    case Reason::kOwn:
      break;  // Told by who knows it.
    case Reason::kNotDirectory:
    case Reason::kTooLarge:
    case Reason::kShownOnly:
      break;  // Of handles, which REST has none of.
  }
  CHECK(false);
}

wire::Error Told::operator()(Refusal refused) const {
  switch (refused) {
    case Refusal::kSharingViolation:
      return Code::kSharingViolation;
    case Refusal::kDeletePending:
      return Code::kSMBDeletePending;
    case Refusal::kLockConflict:
      return Code::kFileLockConflict;
    case Refusal::kCacheFlushDelay:
      return Code::kClientCacheFlushDelay;
    case Refusal::kRangeNotLocked:
    case Refusal::kAccessDenied:
    case Refusal::kTooManyHandles:
    case Refusal::kNoSuchHandle:
    case Refusal::kLeaseElsewhere:
    case Refusal::kTooManyWaiting:
    case Refusal::kTooManyLocks:
    case Refusal::kCancelled:
      break;  // Of handles, which REST has none of.
    case Refusal::kUndecided:
    case Refusal::kCached:
      break;  // Waited for in tree/.
  }
  CHECK(false);
}

}  // namespace

wire::Error refusal(const tree::Error& error) { return std::visit(Told(), error.cause); }

tree::Error OwnRefusal::note(wire::Error error) {
  if (error.conflict) return store::Error::kConflict;
  noted_ = std::move(error);
  return Reason::kOwn;
}

wire::Error OwnRefusal::tell(const tree::Error& error) const {
  return error == tree::Error(Reason::kOwn) ? *noted_ : refusal(error);
}

}  // namespace kyanite::file
