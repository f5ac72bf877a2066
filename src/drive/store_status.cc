#include "drive/store_status.h"

namespace kyanite::drive {

smb::Status status_of(store::Error error) {
  switch (error) {
    case store::Error::kFull:
      return smb::Status::kDiskFull;
    case store::Error::kCorrupt:
      return smb::Status::kDataError;
    case store::Error::kIo:
    case store::Error::kUnknown:
    case store::Error::kTooLarge:
      return smb::Status::kInternalError;
    case store::Error::kConflict:
    case store::Error::kBusy:
      return smb::Status::kInsufficientResources;
    case store::Error::kTimeout:
      return smb::Status::kIoTimeout;
  }
  return smb::Status::kInternalError;
}

}  // namespace kyanite::drive
