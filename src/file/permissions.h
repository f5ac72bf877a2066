// Permissions of files and directories as requests name them: see tree/permissions.h.
#pragma once

#include <string>
#include <string_view>

#include "base/task.h"
#include "file/records.h"
#include "service/call.h"
#include "tree/permissions.h"
#include "wire/error.h"

namespace kyanite::file {

inline constexpr size_t kMaxInlinePermission = 8 * 1024;  // in a header
inline constexpr size_t kMaxPermission = 9 * 1024;        // in the body of Create Permission

using tree::default_permission_key;

// The key of the permission, which is noted in the share if it is new. 400 FileInvalidPermission
// when the SDDL text is not a descriptor.
Task<wire::Result<std::string>> add_permission(service::Call& call, store::SpaceId space,
                                               std::string_view sddl);

// The SDDL text behind a key. 400 InvalidHeaderValue for what is no key, FileInvalidPermissionKey
// for one that the share does not know.
Task<wire::Result<std::string>> find_permission(service::Call& call, store::SpaceId space,
                                                std::string_view key);

// The SDDL text of what a client sends in one of the two formats (Sddl, Binary in base64), and
// back. 400 FileInvalidPermission.
enum class PermissionFormat { kSddl, kBinary };
wire::Result<PermissionFormat> decode_permission_format(const service::Call& call);
wire::Result<std::string> to_sddl(std::string_view sent, PermissionFormat format);
wire::Result<std::string> from_sddl(std::string_view sddl, PermissionFormat format);

// What a request asks for the permission of a file or directory by x-ms-file-permission (an SDDL
// text or binary, `inherit`, `preserve`) or x-ms-file-permission-key: the key to store.
enum class PermissionUse {
  kCreate,  // Neither header: inherited.
  kSet,     // Neither header, or `preserve`: "", to be left as it is.
};
Task<wire::Result<std::string>> settle_permission(service::Call& call, store::SpaceId space,
                                                  PermissionUse use);

}  // namespace kyanite::file
