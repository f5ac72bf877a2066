#include "concurrency/share_mode.h"

#include "base/check.h"

namespace kyanite::concurrency {
namespace {

// The access an SMB client would have to open the file with to do the same.
AccessSet equivalent_access(FileOperation operation) {
  switch (operation) {
    case FileOperation::kListFiles:
    case FileOperation::kGetFileProperties:
    case FileOperation::kGetFileMetadata:
      return kNoAccess;
    case FileOperation::kGetFile:
    case FileOperation::kListRanges:
      return kReadAccess;
    case FileOperation::kPutRange:
    case FileOperation::kSetFileProperties:
    case FileOperation::kSetFileMetadata:
      return kWriteAccess;
    case FileOperation::kCreateFile:
    case FileOperation::kBeginCopy:
      return kWriteAccess | kDeleteAccess;
    case FileOperation::kDeleteFile:
    case FileOperation::kRenameFile:
      return kDeleteAccess;
    case FileOperation::kLeaseFile:
      return kFullAccess;
  }
  CHECK(false);
}

}  // namespace

bool compatible(const Open& a, const Open& b) {
  if (a.access.empty() || b.access.empty()) return true;
  return a.access.within(b.share) && b.access.within(a.share);
}

bool compatible(FileOperation operation, const Open& smb) {
  // An open handle of any kind would keep the name alive, and REST deletes at once or not at all.
  if (operation == FileOperation::kDeleteFile) return false;
  if (smb.access.empty()) return true;
  // A lease and a copy let others only read while they last. Other REST operations are over before
  // anyone could be in their way.
  if (operation == FileOperation::kLeaseFile && !may_open_leased_file(smb.access)) return false;
  if (operation == FileOperation::kBeginCopy && !may_open_while_copied(smb)) return false;
  return equivalent_access(operation).within(smb.share);
}

bool may_open_leased_file(AccessSet access) { return access.within(kReadAccess); }

bool may_open_while_copied(const Open& open) {
  return open.access.within(kReadAccess) &&
         (open.access.empty() || kWriteAccess.within(open.share));
}

}  // namespace kyanite::concurrency
