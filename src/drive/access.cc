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
constexpr uint32_t kChanging = kWriting | access::kWriteEa | access::kDeleteChild |
                               access::kWriteAttributes | access::kDelete | access::kWriteDac |
                               access::kWriteOwner;

Task<tree::Result<uint32_t>> rights_to(store::Occasion& occasion, const tree::Tree& tree,
                                       const tree::Entry& entry) {
  if (tree::has_default_permission(entry)) co_return tree::kAllRights;
  auto descriptor = co_await tree::descriptor_of(occasion, tree, entry);
  if (!descriptor) co_return descriptor.error();
  co_return tree::granted_rights(*descriptor, tree::account_identity());
}

}  // namespace

Task<tree::Result<uint32_t>> maximal_access(store::Occasion& occasion, const tree::Tree& tree,
                                            const tree::Entry& entry, const tree::Entry& parent) {
  auto around = co_await rights_to(occasion, tree, parent);
  if (!around) co_return around.error();
  auto most = co_await rights_to(occasion, tree, entry);
  if (!most) co_return most.error();
  if ((*around & tree::kDeleteChildRight) != 0) *most |= tree::kDeleteRight;
  if ((*around & tree::kListRight) != 0) *most |= tree::kReadAttributesRight;
  co_return *most;
}

Task<tree::Result<uint32_t>> access_to_new(store::Occasion& occasion, const tree::Tree& tree,
                                           bool directory, const tree::Entry& parent) {
  auto around = co_await rights_to(occasion, tree, parent);
  if (!around) co_return around.error();
  const uint32_t needed = directory ? tree::kAddDirectoryRight : tree::kAddFileRight;
  co_return (*around & needed) != 0 ? tree::kAllRights : 0;
}

Task<tree::Result<bool>> may_move_to(store::Occasion& occasion, const tree::Opened& moved,
                                     const tree::Path& to, bool replaces) {
  const tree::Tree& tree = moved.tree;
  auto way = co_await tree::follow(occasion, tree, to);
  if (!way && way.error() == tree::Error(tree::Reason::kNoParent)) co_return true;
  if (!way) co_return way.error();
  auto parent = co_await tree::parent_of(occasion, tree, *way);
  if (!parent) co_return parent.error();
  auto making = co_await access_to_new(occasion, tree, moved.directory, **parent);
  if (!making) co_return making.error();
  if (*making == 0) co_return false;
  if (!replaces) co_return true;
  auto there = co_await tree::find_entry(occasion, tree, *way);
  if (!there) co_return there.error();
  if (!*there || (*there)->entry->id == moved.file.id) co_return true;
  auto most = co_await maximal_access(occasion, tree, *(*there)->entry, **parent);
  if (!most) co_return most.error();
  co_return (*most & tree::kDeleteRight) != 0;
}

bool is_access(uint32_t asked) { return asked != 0 && (asked & kMeaningless) == 0; }

Result<uint32_t, smb::Status> grant_access(uint32_t asked, uint32_t most, bool read_only) {
  asked = tree::plain_rights(asked);
  if ((asked & access::kSystemSecurity) != 0) return smb::Status::kPrivilegeNotHeld;
  const uint32_t exactly = asked & ~access::kMaximumAllowed;
  if (read_only && (exactly & kWriting) != 0) return smb::Status::kAccessDenied;
  if (most == 0 || (exactly & ~(most | access::kSynchronize)) != 0)
    return smb::Status::kAccessDenied;
  if (exactly == asked) return exactly;
  return (read_only ? most_of_read_only(most) : most) | exactly;
}

uint32_t most_of_read_only(uint32_t most) { return most & ~(kWriting | access::kDeleteChild); }

uint32_t most_of_shown(uint32_t most) { return most & ~kChanging; }

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
