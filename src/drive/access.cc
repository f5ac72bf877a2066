#include "drive/access.h"

#include <utility>

namespace kyanite::drive {

namespace access = smb::access;

namespace {

// Bits that mean nothing, and those that need privileges which nobody has.
constexpr uint32_t kMeaningless = 0x0CE0FE00;
constexpr uint32_t kWriting = access::kWriteData | access::kAppendData;

}  // namespace

uint32_t without_generic(uint32_t asked) {
  constexpr std::pair<uint32_t, uint32_t> kGeneric[] = {
      {access::kGenericAll, smb::kGenericAllMeans},
      {access::kGenericExecute, smb::kGenericExecuteMeans},
      {access::kGenericWrite, smb::kGenericWriteMeans},
      {access::kGenericRead, smb::kGenericReadMeans}};
  for (const auto& [generic, means] : kGeneric) {
    if ((asked & generic) != 0) asked = (asked & ~generic) | means;
  }
  return asked;
}

uint32_t maximal_access(const tree::Entry* entry) {
  uint32_t most = smb::kGenericAllMeans;
  const bool read_only = entry != nullptr && !entry->directory &&
                         (entry->smb.attributes & tree::kReadOnlyAttribute) != 0;
  if (read_only) most &= ~kWriting;
  return most;
}

Result<uint32_t, smb::Status> grant_access(uint32_t asked, const tree::Entry* entry) {
  asked = without_generic(asked);
  if (asked == 0 || (asked & kMeaningless) != 0) return smb::Status::kAccessDenied;
  if ((asked & access::kSystemSecurity) != 0) return smb::Status::kPrivilegeNotHeld;
  const uint32_t most = maximal_access(entry);
  const uint32_t exactly = asked & ~access::kMaximumAllowed;
  if ((exactly & ~most) != 0) return smb::Status::kAccessDenied;
  return (asked & access::kMaximumAllowed) != 0 ? most : exactly;
}

concurrency::AccessSet access_set(uint32_t mask) {
  concurrency::AccessSet set;
  if ((mask & (access::kReadData | access::kExecute)) != 0) set = set | concurrency::kReadAccess;
  if ((mask & kWriting) != 0) set = set | concurrency::kWriteAccess;
  if ((mask & access::kDelete) != 0) set = set | concurrency::kDeleteAccess;
  return set;
}

concurrency::AccessSet share_set(uint32_t share) {
  concurrency::AccessSet set;
  if ((share & smb::share_access::kRead) != 0) set = set | concurrency::kReadAccess;
  if ((share & smb::share_access::kWrite) != 0) set = set | concurrency::kWriteAccess;
  if ((share & smb::share_access::kDelete) != 0) set = set | concurrency::kDeleteAccess;
  return set;
}

}  // namespace kyanite::drive
