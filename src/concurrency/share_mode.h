// Share modes: whether two opens of one file can stand side by side, and what SMB opens forbid to
// FileREST operations. Access here is the granted access: EXECUTE counts as read and APPEND as
// write; attribute access counts as nothing.
#pragma once

#include <cstdint>

#include "concurrency/bit_set.h"

namespace kyanite::concurrency {

// A set of read, write and delete.
using AccessSet = BitSet<struct AccessKind, 7>;

inline constexpr AccessSet kNoAccess;
inline constexpr AccessSet kReadAccess{1};
inline constexpr AccessSet kWriteAccess{2};
inline constexpr AccessSet kDeleteAccess{4};
inline constexpr AccessSet kFullAccess{7};

struct Open {
  AccessSet access;  // What it was granted.
  AccessSet share;   // What it lets others have meanwhile.
};

// Symmetric. An open for attributes only conflicts with nothing.
bool compatible(const Open& a, const Open& b);

enum class FileOperation {
  kListFiles,
  kGetFileProperties,
  kGetFileMetadata,
  kGetFile,
  kListRanges,
  kPutRange,
  kSetFileProperties,
  kSetFileMetadata,
  kCreateFile,  // over an existing file
  kBeginCopy,   // over an existing file, which is written until the copy is done
  kDeleteFile,
  kRenameFile,
  kLeaseFile,
};

// Whether a REST operation can go on beside an SMB open of the file; false: 409 SharingViolation.
bool compatible(FileOperation operation, const Open& smb);

// Whether SMB may open a file that is leased over REST with this access; false:
// STATUS_SHARING_VIOLATION.
bool may_open_leased_file(AccessSet access);
// The same of a file that a copy is being written to.
bool may_open_while_copied(const Open& open);

}  // namespace kyanite::concurrency
