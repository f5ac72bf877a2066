#include "datalake/operations.h"

#include "datalake/handlers.h"

namespace kyanite::datalake {

using auth::Level;
using auth::Need;
using auth::Role;
using auth::posix::Act;
using service::Operation;

namespace {

constexpr Need service_list{
    .resource_type = 's', .account_sas = "l", .service_sas = "", .role = Role::kReader};
constexpr Need filesystem_create{.resource_type = 'c', .account_sas = "cw", .service_sas = ""};
constexpr Need filesystem_read{
    .resource_type = 'c', .account_sas = "r", .service_sas = "", .role = Role::kReader};
constexpr Need filesystem_write{.resource_type = 'c', .account_sas = "w", .service_sas = ""};
constexpr Need filesystem_delete{.resource_type = 'c', .account_sas = "d", .service_sas = ""};
constexpr Need paths_list{.resource_type = 'c',
                          .account_sas = "l",
                          .service_sas = "l",
                          .by_prefix = true,
                          .role = Role::kReader,
                          .act = Act::kListDirectory};
constexpr Need path_read{.resource_type = 'o',
                         .account_sas = "r",
                         .service_sas = "r",
                         .role = Role::kReader,
                         .act = Act::kReadFile};
constexpr Need path_properties{.resource_type = 'o',
                               .account_sas = "r",
                               .service_sas = "r",
                               .role = Role::kReader,
                               .act = Act::kLook};
// What the system knows of a path, without what users said of it.
constexpr Need path_look{.resource_type = 'o',
                         .account_sas = "r",
                         .service_sas = "re",
                         .role = Role::kReader,
                         .act = Act::kLook};
constexpr Need path_create{
    .resource_type = 'o', .account_sas = "cw", .service_sas = "cw", .act = Act::kCreate};
constexpr Need path_append{
    .resource_type = 'o', .account_sas = "aw", .service_sas = "aw", .act = Act::kWriteFile};
constexpr Need path_write{
    .resource_type = 'o', .account_sas = "w", .service_sas = "w", .act = Act::kWriteFile};
constexpr Need path_break{
    .resource_type = 'o', .account_sas = "wd", .service_sas = "wd", .act = Act::kWriteFile};
constexpr Need path_delete{
    .resource_type = 'o', .account_sas = "d", .service_sas = "d", .act = Act::kDelete};
// The destination of a rename; rename_path.cc looks at what its source takes.
constexpr Need path_move{
    .resource_type = 'o', .account_sas = "cw", .service_sas = "cwm", .act = Act::kCreate};
constexpr Need root_move{
    .resource_type = "co", .account_sas = "cw", .service_sas = "cwm", .act = Act::kCreate};
// Which of the letters it takes depends on what is set, and on whose it is: access.cc looks again.
constexpr Need path_access{.resource_type = 'o',
                           .account_sas = "p",
                           .service_sas = "poe",
                           .role = Role::kOwner,
                           .act = Act::kSetAccess};
constexpr Need root_properties{.resource_type = "co",
                               .account_sas = "r",
                               .service_sas = "r",
                               .role = Role::kReader,
                               .act = Act::kLook};
constexpr Need root_look{.resource_type = "co",
                         .account_sas = "r",
                         .service_sas = "re",
                         .role = Role::kReader,
                         .act = Act::kLook};
constexpr Need root_write{
    .resource_type = "co", .account_sas = "w", .service_sas = "w", .act = Act::kWriteFile};
constexpr Need root_access{.resource_type = "co",
                           .account_sas = "p",
                           .service_sas = "poe",
                           .role = Role::kOwner,
                           .act = Act::kSetAccess};

// Rows are tried in order.
// clang-format off
constexpr Operation kOperations[] = {
    {"Filesystem - List", "Service_ListFileSystems", "GET", Level::kService, "", "", {}, service_list, list_filesystems, {"resource", "account"}},
    {"Filesystem - Create", "FileSystem_Create", "PUT", Level::kContainer, "", "", {}, filesystem_create, create_filesystem, {"resource", "filesystem"}},
    {"Filesystem - Set Properties", "FileSystem_SetProperties", "PATCH", Level::kContainer, "", "", {}, filesystem_write, set_filesystem_properties, {"resource", "filesystem"}},
    {"Filesystem - Get Properties", "FileSystem_GetProperties", "HEAD", Level::kContainer, "", "", {}, filesystem_read, get_filesystem_properties, {"resource", "filesystem"}},
    {"Filesystem - Delete", "FileSystem_Delete", "DELETE", Level::kContainer, "", "", {}, filesystem_delete, delete_filesystem, {"resource", "filesystem"}},
    {"Path - List", "FileSystem_ListPaths", "GET", Level::kContainer, "", "", {}, paths_list, list_paths, {"resource", "filesystem"}},

    // The root of a file system is a path as well.
    {"Path - Update (setAccessControl)", "Path_SetRootAccessControl", "PATCH", Level::kContainer, "", "", {}, root_access, set_access_control, {"action", "setAccessControl"}},
    {"Path - Update (setAccessControlRecursive)", "Path_SetRootAccessControlRecursive", "PATCH", Level::kContainer, "", "", {}, root_access, set_access_control_recursive, {"action", "setAccessControlRecursive"}},
    {"Path - Update (setProperties)", "Path_SetRootProperties", "PATCH", Level::kContainer, "", "", {}, root_write, set_path_properties, {"action", "setProperties"}},
    {"Path - Get Access Control", "Path_GetRootAccessControl", "HEAD", Level::kContainer, "", "", {}, root_look, get_access_control, {"action", "getAccessControl"}},
    {"Path - Get Status", "Path_GetRootStatus", "HEAD", Level::kContainer, "", "", {}, root_look, get_path_properties, {"action", "getStatus"}},
    {"Path - Check Access", "Path_CheckRootAccess", "HEAD", Level::kContainer, "", "", {}, root_look, check_access, {"action", "checkAccess"}},
    {"Path - Get Properties", "Path_GetRootProperties", "HEAD", Level::kContainer, "", "", {}, root_properties, get_path_properties},

    {"Path - Rename", "Path_RenameIntoRoot", "PUT", Level::kContainer, "", "", {{"x-ms-rename-source", ""}}, root_move, rename_path},
    {"Path - Rename", "Path_Rename", "PUT", Level::kObject, "", "", {{"x-ms-rename-source", ""}}, path_move, rename_path},
    {"Path - Create", "Path_Create", "PUT", Level::kObject, "", "", {}, path_create, create_path, {"resource", ""}},
    {"Path - Update (append)", "Path_AppendData", "PATCH", Level::kObject, "", "", {}, path_append, append_data, {"action", "append"}},
    {"Path - Update (flush)", "Path_FlushData", "PATCH", Level::kObject, "", "", {}, path_append, flush_data, {"action", "flush"}},
    {"Path - Update (setProperties)", "Path_SetProperties", "PATCH", Level::kObject, "", "", {}, path_write, set_path_properties, {"action", "setProperties"}},
    {"Path - Update (setAccessControl)", "Path_SetAccessControl", "PATCH", Level::kObject, "", "", {}, path_access, set_access_control, {"action", "setAccessControl"}},
    {"Path - Update (setAccessControlRecursive)", "Path_SetAccessControlRecursive", "PATCH", Level::kObject, "", "", {}, path_access, set_access_control_recursive, {"action", "setAccessControlRecursive"}},
    {"Path - Lease (break)", "Path_BreakLease", "POST", Level::kObject, "", "", {{"x-ms-lease-action", "break"}}, path_break, lease_path},
    {"Path - Lease", "Path_Lease", "POST", Level::kObject, "", "", {{"x-ms-lease-action", ""}}, path_write, lease_path},
    {"Path - Read", "Path_Read", "GET", Level::kObject, "", "", {}, path_read, read_path},
    {"Path - Get Access Control", "Path_GetAccessControl", "HEAD", Level::kObject, "", "", {}, path_look, get_access_control, {"action", "getAccessControl"}},
    {"Path - Get Status", "Path_GetStatus", "HEAD", Level::kObject, "", "", {}, path_look, get_path_properties, {"action", "getStatus"}},
    {"Path - Check Access", "Path_CheckAccess", "HEAD", Level::kObject, "", "", {}, path_look, check_access, {"action", "checkAccess"}},
    {"Path - Get Properties", "Path_GetProperties", "HEAD", Level::kObject, "", "", {}, path_properties, get_path_properties},
    {"Path - Delete", "Path_Delete", "DELETE", Level::kObject, "", "", {}, path_delete, delete_path},
};
// clang-format on

}  // namespace

std::span<const Operation> operations() { return kOperations; }

}  // namespace kyanite::datalake
