#include "drive/access.h"

#include "tree/access_check.h"
#include "tree/handle_info.h"
#include "tree/permissions.h"

namespace kyanite::drive {

namespace access = smb::access;

namespace {

// Bits that mean nothing, and those that need privileges which nobody has.
constexpr uint32_t kMeaningless = 0x0CE0FE00;
constexpr uint32_t kWriting = access::kWriteData | access::kAppendData;

Task<tree::Result<uint32_t>> rights_to(store::Occasion& occasion, const tree::Tree& tree,
                                       const tree::Entry& entry) {
  if (tree::has_default_permission(entry)) co_return tree::kAllRights;
  auto descriptor = co_await tree::descriptor_of(occasion, tree, entry);
  if (!descriptor) co_return descriptor.error();
  co_return tree::granted_rights(*descriptor, tree::account_identity());
}

}  // namespace

Task<tree::Result<uint32_t>> maximal_access(store::Occasion& occasion, const tree::Tree& tree,
                                            const tree::Entry* entry, const tree::Entry& parent) {
  auto around = co_await rights_to(occasion, tree, parent);
  if (!around) co_return around.error();
  // Whoever makes something may do with it what it likes.
  if (entry == nullptr) {
    const bool may_add = (*around & (tree::kAddFileRight | tree::kAddDirectoryRight)) != 0;
    co_return may_add ? tree::kAllRights : 0;
  }
  auto most = co_await rights_to(occasion, tree, *entry);
  if (!most) co_return most.error();
  if ((*around & tree::kDeleteChildRight) != 0) *most |= tree::kDeleteRight;
  if ((*around & tree::kListRight) != 0) *most |= tree::kReadAttributesRight;
  const bool read_only =
      !entry->directory && (entry->smb.attributes & tree::kReadOnlyAttribute) != 0;
  co_return read_only ? *most & ~kWriting : *most;
}

bool is_access(uint32_t asked) { return asked != 0 && (asked & kMeaningless) == 0; }

Result<uint32_t, smb::Status> grant_access(uint32_t asked, uint32_t most) {
  asked = tree::plain_rights(asked);
  if ((asked & access::kSystemSecurity) != 0) return smb::Status::kPrivilegeNotHeld;
  const uint32_t exactly = asked & ~access::kMaximumAllowed;
  if ((exactly & ~(most | access::kSynchronize)) != 0) return smb::Status::kAccessDenied;
  return (asked & access::kMaximumAllowed) != 0 ? most | exactly : exactly;
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
