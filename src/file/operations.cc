// The operation table of the File service.
#include "file/operations.h"

#include "account/properties.h"
#include "account/user_delegation_key.h"
#include "file/handlers.h"

namespace kyanite::file {

using auth::Level;
using auth::Need;
using auth::Role;
using service::Operation;

namespace {

// Who may do what, by the letters of account and service SAS.
constexpr Need account_read{
    .resource_type = 's', .account_sas = "r", .service_sas = "", .role = Role::kReader};
constexpr Need account_write{.resource_type = 's', .account_sas = "w", .service_sas = ""};
constexpr Need account_list{
    .resource_type = 's', .account_sas = "l", .service_sas = "", .role = Role::kReader};
constexpr Need delegation{.resource_type = 's',
                          .account_sas = "",
                          .service_sas = "",
                          .bearer_only = true,
                          .role = Role::kReader};
// Tokens reach files; of a share itself they reach its permissions only.
constexpr Need share_create{
    .resource_type = 'c', .account_sas = "cw", .service_sas = "", .bearer = false};
constexpr Need share_read{
    .resource_type = 'c', .account_sas = "r", .service_sas = "", .bearer = false};
constexpr Need share_write{
    .resource_type = 'c', .account_sas = "w", .service_sas = "", .bearer = false};
constexpr Need share_break{
    .resource_type = 'c', .account_sas = "wd", .service_sas = "", .bearer = false};
constexpr Need share_delete{
    .resource_type = 'c', .account_sas = "d", .service_sas = "", .bearer = false};
constexpr Need share_acl{
    .resource_type = 'c', .account_sas = "", .service_sas = "", .bearer = false};
constexpr Need permission_create{.resource_type = 'c', .account_sas = "cw", .service_sas = "cw"};
constexpr Need permission_read{
    .resource_type = 'c', .account_sas = "r", .service_sas = "r", .role = Role::kReader};
// Files and directories are objects, the root directory like any other; only lists, which no object
// has a permission for, are of the share.
constexpr Need file_list{
    .resource_type = 'c', .account_sas = "l", .service_sas = "l", .role = Role::kReader};
constexpr Need file_read{
    .resource_type = 'o', .account_sas = "r", .service_sas = "r", .role = Role::kReader};
constexpr Need file_create{.resource_type = 'o', .account_sas = "cw", .service_sas = "cw"};
constexpr Need file_write{.resource_type = 'o', .account_sas = "w", .service_sas = "w"};
constexpr Need file_break{.resource_type = 'o', .account_sas = "wd", .service_sas = "wd"};
constexpr Need file_delete{.resource_type = 'o', .account_sas = "d", .service_sas = "d"};

// Rows are tried in order; of rows that differ in headers the most particular comes first.
// clang-format off
constexpr Operation kOperations[] = {
    // The service.
    {"List Shares", "Service_ListSharesSegment", "GET", Level::kService, "", "list", {}, account_list, list_shares},
    {"Get File Service Properties", "Service_GetProperties", "GET", Level::kService, "service", "properties", {}, account_read, account::get_service_properties},
    {"Set File Service Properties", "Service_SetProperties", "PUT", Level::kService, "service", "properties", {}, account_write, account::set_service_properties},
    {"Get User Delegation Key", "Service_GetUserDelegationKey", "POST", Level::kService, "service", "userdelegationkey", {}, delegation, account::get_user_delegation_key},

    // Shares.
    {"Create Share", "Share_Create", "PUT", Level::kContainer, "share", "", {}, share_create, create_share},
    {"Get Share Properties", "Share_GetProperties", "GET", Level::kContainer, "share", "", {}, share_read, get_share_properties},
    {"Get Share Properties", "Share_GetPropertiesWithHead", "HEAD", Level::kContainer, "share", "", {}, share_read, get_share_properties},
    {"Get Share Metadata", "Share_GetMetadata", "GET", Level::kContainer, "share", "metadata", {}, share_read, get_share_properties},
    {"Get Share Metadata", "Share_GetMetadataWithHead", "HEAD", Level::kContainer, "share", "metadata", {}, share_read, get_share_properties},
    {"Set Share Properties", "Share_SetProperties", "PUT", Level::kContainer, "share", "properties", {}, share_write, set_share_properties},
    {"Set Share Metadata", "Share_SetMetadata", "PUT", Level::kContainer, "share", "metadata", {}, share_write, set_share_metadata},
    {"Get Share ACL", "Share_GetAccessPolicy", "GET", Level::kContainer, "share", "acl", {}, share_acl, get_share_acl},
    {"Get Share ACL", "Share_GetAccessPolicyWithHead", "HEAD", Level::kContainer, "share", "acl", {}, share_acl, get_share_acl},
    {"Set Share ACL", "Share_SetAccessPolicy", "PUT", Level::kContainer, "share", "acl", {}, share_acl, set_share_acl},
    {"Get Share Stats", "Share_GetStatistics", "GET", Level::kContainer, "share", "stats", {}, share_read, get_share_stats},
    {"Lease Share (break)", "Share_BreakLease", "PUT", Level::kContainer, "share", "lease", {{"x-ms-lease-action", "break"}}, share_break, lease_share},
    {"Lease Share", "Share_Lease", "PUT", Level::kContainer, "share", "lease", {}, share_write, lease_share},
    {"Snapshot Share", "Share_CreateSnapshot", "PUT", Level::kContainer, "share", "snapshot", {}, share_create, snapshot_share},
    {"Delete Share", "Share_Delete", "DELETE", Level::kContainer, "share", "", {}, share_delete, delete_share},
    {"Restore Share", "Share_Restore", "PUT", Level::kContainer, "share", "undelete", {}, share_write, restore_share},
    {"Create Permission", "Share_CreatePermission", "PUT", Level::kContainer, "share", "filepermission", {}, permission_create, create_permission},
    {"Get Permission", "Share_GetPermission", "GET", Level::kContainer, "share", "filepermission", {}, permission_read, get_permission},

    // The root directory of a share, which always exists.
    {"Create Directory (root)", "Directory_CreateRoot", "PUT", Level::kContainer, "directory", "", {}, file_create, create_directory},
    {"Get Directory Properties (root)", "Directory_GetRootProperties", "GET", Level::kContainer, "directory", "", {}, file_read, get_directory_properties},
    {"Get Directory Properties (root)", "Directory_GetRootPropertiesWithHead", "HEAD", Level::kContainer, "directory", "", {}, file_read, get_directory_properties},
    {"Get Directory Metadata (root)", "Directory_GetRootMetadata", "GET", Level::kContainer, "directory", "metadata", {}, file_read, get_directory_metadata},
    {"Get Directory Metadata (root)", "Directory_GetRootMetadataWithHead", "HEAD", Level::kContainer, "directory", "metadata", {}, file_read, get_directory_metadata},
    {"Set Directory Properties (root)", "Directory_SetRootProperties", "PUT", Level::kContainer, "directory", "properties", {}, file_write, set_directory_properties},
    {"Set Directory Metadata (root)", "Directory_SetRootMetadata", "PUT", Level::kContainer, "directory", "metadata", {}, file_write, set_directory_metadata},
    {"Delete Directory (root)", "Directory_DeleteRoot", "DELETE", Level::kContainer, "directory", "", {}, file_delete, delete_directory},
    {"List Directories and Files (root)", "Directory_ListRoot", "GET", Level::kContainer, "directory", "list", {}, file_list, list_directory},
    {"List Handles (root)", "Directory_ListRootHandles", "GET", Level::kContainer, "", "listhandles", {}, file_list, list_handles},
    {"Force Close Handles (root)", "Directory_ForceCloseRootHandles", "PUT", Level::kContainer, "", "forceclosehandles", {}, file_write, force_close_handles},

    // Directories.
    {"Create Directory", "Directory_Create", "PUT", Level::kObject, "directory", "", {}, file_create, create_directory},
    {"Get Directory Properties", "Directory_GetProperties", "GET", Level::kObject, "directory", "", {}, file_read, get_directory_properties},
    {"Get Directory Properties", "Directory_GetPropertiesWithHead", "HEAD", Level::kObject, "directory", "", {}, file_read, get_directory_properties},
    {"Get Directory Metadata", "Directory_GetMetadata", "GET", Level::kObject, "directory", "metadata", {}, file_read, get_directory_metadata},
    {"Get Directory Metadata", "Directory_GetMetadataWithHead", "HEAD", Level::kObject, "directory", "metadata", {}, file_read, get_directory_metadata},
    {"Set Directory Properties", "Directory_SetProperties", "PUT", Level::kObject, "directory", "properties", {}, file_write, set_directory_properties},
    {"Set Directory Metadata", "Directory_SetMetadata", "PUT", Level::kObject, "directory", "metadata", {}, file_write, set_directory_metadata},
    {"Delete Directory", "Directory_Delete", "DELETE", Level::kObject, "directory", "", {}, file_delete, delete_directory},
    {"List Directories and Files", "Directory_ListFilesAndDirectoriesSegment", "GET", Level::kObject, "directory", "list", {}, file_list, list_directory},
    {"Rename Directory", "Directory_Rename", "PUT", Level::kObject, "directory", "rename", {}, file_write, rename_directory},

    // Files.
    {"Get File", "File_Download", "GET", Level::kObject, "", "", {}, file_read, get_file},
    {"Get File Properties", "File_GetProperties", "HEAD", Level::kObject, "", "", {}, file_read, get_file_properties},
    {"Get File Metadata", "File_GetMetadata", "GET", Level::kObject, "", "metadata", {}, file_read, get_file_metadata},
    {"Get File Metadata", "File_GetMetadataWithHead", "HEAD", Level::kObject, "", "metadata", {}, file_read, get_file_metadata},
    {"Set File Properties", "File_SetHttpHeaders", "PUT", Level::kObject, "", "properties", {}, file_write, set_file_properties},
    {"Set File Metadata", "File_SetMetadata", "PUT", Level::kObject, "", "metadata", {}, file_write, set_file_metadata},
    {"Lease File (break)", "File_BreakLease", "PUT", Level::kObject, "", "lease", {{"x-ms-lease-action", "break"}}, file_break, lease_file},
    {"Lease File", "File_Lease", "PUT", Level::kObject, "", "lease", {}, file_write, lease_file},
    {"Delete File", "File_Delete", "DELETE", Level::kObject, "", "", {}, file_delete, delete_file},
    {"Put Range From URL", "File_UploadRangeFromURL", "PUT", Level::kObject, "", "range", {{"x-ms-copy-source", ""}}, file_write, put_range_from_url},
    {"Put Range (clear)", "File_ClearRange", "PUT", Level::kObject, "", "range", {{"x-ms-write", "clear"}}, file_write, clear_range},
    {"Put Range", "File_UploadRange", "PUT", Level::kObject, "", "range", {{"x-ms-write", "update"}}, file_write, put_range},
    {"List Ranges", "File_GetRangeList", "GET", Level::kObject, "", "rangelist", {}, file_read, list_ranges},
    {"Abort Copy File", "File_AbortCopy", "PUT", Level::kObject, "", "copy", {}, file_write, abort_copy_file},
    {"Rename File", "File_Rename", "PUT", Level::kObject, "", "rename", {}, file_write, rename_file},
    {"List Handles", "File_ListHandles", "GET", Level::kObject, "", "listhandles", {}, file_list, list_handles},
    {"Force Close Handles", "File_ForceCloseHandles", "PUT", Level::kObject, "", "forceclosehandles", {}, file_write, force_close_handles},

    // What NFS shares have.
    {"Create Symbolic Link", "File_CreateSymbolicLink", "PUT", Level::kObject, "symboliclink", "", {}, file_create},
    {"Get Symbolic Link", "File_GetSymbolicLink", "GET", Level::kObject, "symboliclink", "", {}, file_read},
    {"Create Hard Link", "File_CreateHardLink", "PUT", Level::kObject, "hardlink", "", {}, file_create},

    // Creation, told apart by headers.
    {"Copy File", "File_StartCopy", "PUT", Level::kObject, "", "", {{"x-ms-copy-source", ""}}, file_create, copy_file},
    {"Create File", "File_Create", "PUT", Level::kObject, "", "", {{"x-ms-type", "file"}}, file_create, create_file},
};
// clang-format on

}  // namespace

std::span<const Operation> operations() { return kOperations; }

}  // namespace kyanite::file
