// The operation table of the Blob service.
#include "blob/operations.h"

#include "account/properties.h"
#include "account/stats.h"
#include "account/user_delegation_key.h"
#include "blob/handlers.h"

namespace kyanite::blob {

using auth::Level;
using auth::Need;
using auth::PublicAccess;
using auth::Role;
using auth::posix::Act;
using service::Operation;

namespace {

// Who may do what: by the letters of account and service SAS, by role, and by access control of
// paths.
constexpr Need account_read{
    .resource_type = 's', .account_sas = "r", .service_sas = "", .role = Role::kReader};
constexpr Need account_write{.resource_type = 's', .account_sas = "w", .service_sas = ""};
constexpr Need account_list{
    .resource_type = 's', .account_sas = "l", .service_sas = "", .role = Role::kReader};
constexpr Need account_facts{.resource_type = "sco",
                             .account_sas = "rwdlacup",
                             .service_sas = "rwdlac",
                             .reaches_former = true,
                             .role = Role::kReader};
constexpr Need delegation{.resource_type = 's',
                          .account_sas = "",
                          .service_sas = "",
                          .bearer_only = true,
                          .role = Role::kReader};
constexpr Need container_create{.resource_type = 'c', .account_sas = "cw", .service_sas = ""};
constexpr Need container_read{.resource_type = 'c',
                              .account_sas = "r",
                              .service_sas = "",
                              .anonymous = PublicAccess::kContainer,
                              .role = Role::kReader};
constexpr Need container_write{.resource_type = 'c', .account_sas = "w", .service_sas = ""};
constexpr Need container_break{.resource_type = 'c', .account_sas = "wd", .service_sas = ""};
constexpr Need container_delete{.resource_type = 'c', .account_sas = "d", .service_sas = ""};
constexpr Need container_acl{
    .resource_type = 'c', .account_sas = "", .service_sas = "", .bearer = false};
constexpr Need container_list{.resource_type = 'c',
                              .account_sas = "l",
                              .service_sas = "l",
                              .anonymous = PublicAccess::kContainer,
                              .by_prefix = true,
                              .role = Role::kReader,
                              .act = Act::kListDirectory};
constexpr Need container_filter{
    .resource_type = 'c', .account_sas = "f", .service_sas = "f", .role = Role::kReader};
// The reference has it among the operations on objects.
constexpr Need service_filter{
    .resource_type = 'o', .account_sas = "f", .service_sas = "", .role = Role::kReader};
// Each part of a batch is authorized by itself.
constexpr Need service_batch{
    .resource_type = 's', .account_sas = "rwdxlacuptfi", .service_sas = "", .role = Role::kNone};
constexpr Need container_batch{.resource_type = 'c',
                               .account_sas = "rwdxlacuptfi",
                               .service_sas = "racwdxltmeopfiy",
                               .role = Role::kNone};
constexpr Need blob_read{.resource_type = 'o',
                         .account_sas = "r",
                         .service_sas = "r",
                         .anonymous = PublicAccess::kBlob,
                         .reaches_former = true,
                         .role = Role::kReader,
                         .act = Act::kReadFile};
constexpr Need blob_look{.resource_type = 'o',
                         .account_sas = "r",
                         .service_sas = "r",
                         .anonymous = PublicAccess::kBlob,
                         .reaches_former = true,
                         .role = Role::kReader,
                         .act = Act::kLook};
constexpr Need blob_create{
    .resource_type = 'o', .account_sas = "cw", .service_sas = "cw", .act = Act::kCreate};
constexpr Need blob_snapshot{
    .resource_type = 'o', .account_sas = "cw", .service_sas = "cw", .act = Act::kWriteFile};
constexpr Need blob_write{
    .resource_type = 'o', .account_sas = "w", .service_sas = "w", .act = Act::kWriteFile};
// Blocks are how a blob is made or made anew.
constexpr Need blob_stage{
    .resource_type = 'o', .account_sas = "w", .service_sas = "w", .act = Act::kCreate};
constexpr Need blob_append{
    .resource_type = 'o', .account_sas = "aw", .service_sas = "aw", .act = Act::kWriteFile};
constexpr Need blob_break{
    .resource_type = 'o', .account_sas = "wd", .service_sas = "wd", .act = Act::kWriteFile};
// Which of the letters it takes depends on what is deleted: delete_blob.cc looks again.
constexpr Need blob_delete{.resource_type = 'o',
                           .account_sas = "dxy",
                           .service_sas = "dxy",
                           .reaches_former = true,
                           .act = Act::kDelete};
constexpr Need blob_tier{.resource_type = 'o',
                         .account_sas = "w",
                         .service_sas = "w",
                         .reaches_former = true,
                         .act = Act::kWriteFile};
constexpr Need blob_query{.resource_type = 'o',
                          .account_sas = "r",
                          .service_sas = "r",
                          .reaches_former = true,
                          .role = Role::kReader,
                          .act = Act::kReadFile};
constexpr Need blob_tags_read{.resource_type = 'o',
                              .account_sas = "t",
                              .service_sas = "t",
                              .reaches_former = true,
                              .role = Role::kReader};
constexpr Need blob_tags{
    .resource_type = 'o', .account_sas = "t", .service_sas = "t", .reaches_former = true};
constexpr Need blob_immutability{
    .resource_type = 'o', .account_sas = "i", .service_sas = "i", .reaches_former = true};

// Rows are tried in order; of rows that differ in headers the most particular comes first.
// clang-format off
constexpr Operation kOperations[] = {
    // The service.
    {"List Containers", "Service_ListContainersSegment", "GET", Level::kService, "", "list", {}, account_list, list_containers},
    {"Get Blob Service Properties", "Service_GetProperties", "GET", Level::kService, "service", "properties", {}, account_read, account::get_service_properties},
    {"Set Blob Service Properties", "Service_SetProperties", "PUT", Level::kService, "service", "properties", {}, account_write, account::set_service_properties},
    {"Get Blob Service Stats", "Service_GetStatistics", "GET", Level::kService, "service", "stats", {}, account_read, account::get_service_stats},
    {"Get User Delegation Key", "Service_GetUserDelegationKey", "POST", Level::kService, "service", "userdelegationkey", {}, delegation, account::get_user_delegation_key},
    {"Get Account Information", "Service_GetAccountInfo", "GET", Level::kService, "account", "properties", {}, account_facts, get_account_information},
    {"Get Account Information", "Service_GetAccountInfoWithHead", "HEAD", Level::kService, "account", "properties", {}, account_facts, get_account_information},
    {"Blob Batch", "Service_SubmitBatch", "POST", Level::kService, "", "batch", {}, service_batch, blob_batch},
    // Clients that take an account in the path for a container send this to the service.
    {"Blob Batch", "Service_SubmitBatchByPath", "POST", Level::kService, "container", "batch", {}, service_batch, blob_batch},
    {"Find Blobs by Tags", "Service_FilterBlobs", "GET", Level::kService, "", "blobs", {}, service_filter, find_blobs_by_tags},

    // Containers.
    {"Create Container", "Container_Create", "PUT", Level::kContainer, "container", "", {}, container_create, create_container},
    {"Get Container Properties", "Container_GetProperties", "GET", Level::kContainer, "container", "", {}, container_read, get_container_properties},
    {"Get Container Properties", "Container_GetPropertiesWithHead", "HEAD", Level::kContainer, "container", "", {}, container_read, get_container_properties},
    {"Get Container Metadata", "Container_GetMetadata", "GET", Level::kContainer, "container", "metadata", {}, container_read, get_container_properties},
    {"Get Container Metadata", "Container_GetMetadataWithHead", "HEAD", Level::kContainer, "container", "metadata", {}, container_read, get_container_properties},
    {"Set Container Metadata", "Container_SetMetadata", "PUT", Level::kContainer, "container", "metadata", {}, container_write, set_container_metadata},
    {"Get Container ACL", "Container_GetAccessPolicy", "GET", Level::kContainer, "container", "acl", {}, container_acl, get_container_acl},
    {"Get Container ACL", "Container_GetAccessPolicyWithHead", "HEAD", Level::kContainer, "container", "acl", {}, container_acl, get_container_acl},
    {"Set Container ACL", "Container_SetAccessPolicy", "PUT", Level::kContainer, "container", "acl", {}, container_acl, set_container_acl},
    {"Lease Container (break)", "Container_BreakLease", "PUT", Level::kContainer, "container", "lease", {{"x-ms-lease-action", "break"}}, container_break, lease_container},
    {"Lease Container", "Container_Lease", "PUT", Level::kContainer, "container", "lease", {}, container_write, lease_container},
    {"Delete Container", "Container_Delete", "DELETE", Level::kContainer, "container", "", {}, container_delete, delete_container},
    {"List Blobs", "Container_ListBlobs", "GET", Level::kContainer, "container", "list", {}, container_list, list_blobs},
    {"Restore Container", "Container_Restore", "PUT", Level::kContainer, "container", "undelete", {}, container_write, restore_container},
    {"Blob Batch", "Container_SubmitBatch", "POST", Level::kContainer, "container", "batch", {}, container_batch, blob_batch},
    {"Find Blobs by Tags in Container", "Container_FilterBlobs", "GET", Level::kContainer, "container", "blobs", {}, container_filter, find_blobs_by_tags},
    {"Get Account Information", "Container_GetAccountInfo", "GET", Level::kContainer, "account", "properties", {}, account_facts, get_account_information},
    {"Get Account Information", "Container_GetAccountInfoWithHead", "HEAD", Level::kContainer, "account", "properties", {}, account_facts, get_account_information},

    // Blobs of every type.
    {"Get Blob", "Blob_Download", "GET", Level::kObject, "", "", {}, blob_read, get_blob},
    {"Get Blob Properties", "Blob_GetProperties", "HEAD", Level::kObject, "", "", {}, blob_look, get_blob_properties},
    {"Get Blob Metadata", "Blob_GetMetadata", "GET", Level::kObject, "", "metadata", {}, blob_look, get_blob_metadata},
    {"Get Blob Metadata", "Blob_GetMetadataWithHead", "HEAD", Level::kObject, "", "metadata", {}, blob_look, get_blob_metadata},
    {"Set Blob Properties", "Blob_SetHttpHeaders", "PUT", Level::kObject, "", "properties", {}, blob_write, set_blob_properties},
    {"Set Blob Metadata", "Blob_SetMetadata", "PUT", Level::kObject, "", "metadata", {}, blob_write, set_blob_metadata},
    {"Lease Blob (break)", "Blob_BreakLease", "PUT", Level::kObject, "", "lease", {{"x-ms-lease-action", "break"}}, blob_break, lease_blob},
    {"Lease Blob", "Blob_Lease", "PUT", Level::kObject, "", "lease", {}, blob_write, lease_blob},
    {"Delete Blob", "Blob_Delete", "DELETE", Level::kObject, "", "", {}, blob_delete, delete_blob},
    {"Undelete Blob", "Blob_Undelete", "PUT", Level::kObject, "", "undelete", {}, blob_stage, undelete_blob},
    {"Set Blob Expiry", "Blob_SetExpiry", "PUT", Level::kObject, "", "expiry", {}, blob_write, set_blob_expiry},
    {"Set Blob Immutability Policy", "Blob_SetImmutabilityPolicy", "PUT", Level::kObject, "", "immutabilityPolicies", {}, blob_immutability, set_blob_immutability_policy},
    {"Delete Blob Immutability Policy", "Blob_DeleteImmutabilityPolicy", "DELETE", Level::kObject, "", "immutabilityPolicies", {}, blob_immutability, delete_blob_immutability_policy},
    {"Set Blob Legal Hold", "Blob_SetLegalHold", "PUT", Level::kObject, "", "legalhold", {}, blob_immutability, set_blob_legal_hold},
    {"Snapshot Blob", "Blob_CreateSnapshot", "PUT", Level::kObject, "", "snapshot", {}, blob_snapshot, snapshot_blob},
    {"Set Blob Tier", "Blob_SetTier", "PUT", Level::kObject, "", "tier", {}, blob_tier, set_blob_tier},
    {"Get Blob Tags", "Blob_GetTags", "GET", Level::kObject, "", "tags", {}, blob_tags_read, get_blob_tags},
    {"Set Blob Tags", "Blob_SetTags", "PUT", Level::kObject, "", "tags", {}, blob_tags, set_blob_tags},
    {"Query Blob Contents", "Blob_Query", "POST", Level::kObject, "", "query", {}, blob_query, query_blob_contents},
    {"Get Account Information", "Blob_GetAccountInfo", "GET", Level::kObject, "account", "properties", {}, account_facts, get_account_information},
    {"Get Account Information", "Blob_GetAccountInfoWithHead", "HEAD", Level::kObject, "account", "properties", {}, account_facts, get_account_information},
    {"Abort Copy Blob", "Blob_AbortCopyFromURL", "PUT", Level::kObject, "", "copy", {}, blob_write, abort_copy_blob},

    // Block blobs.
    {"Put Block From URL", "BlockBlob_StageBlockFromURL", "PUT", Level::kObject, "", "block", {{"x-ms-copy-source", ""}}, blob_stage, put_block_from_url},
    {"Put Block", "BlockBlob_StageBlock", "PUT", Level::kObject, "", "block", {}, blob_stage, put_block},
    {"Put Block List", "BlockBlob_CommitBlockList", "PUT", Level::kObject, "", "blocklist", {}, blob_stage, put_block_list},
    {"Get Block List", "BlockBlob_GetBlockList", "GET", Level::kObject, "", "blocklist", {}, blob_read, get_block_list},

    // Append blobs.
    {"Append Block From URL", "AppendBlob_AppendBlockFromUrl", "PUT", Level::kObject, "", "appendblock", {{"x-ms-copy-source", ""}}, blob_append, append_block_from_url},
    {"Append Block", "AppendBlob_AppendBlock", "PUT", Level::kObject, "", "appendblock", {}, blob_append, append_block},
    {"Append Blob Seal", "AppendBlob_Seal", "PUT", Level::kObject, "", "seal", {}, blob_write, append_blob_seal},

    // Page blobs.
    {"Put Page From URL", "PageBlob_UploadPagesFromURL", "PUT", Level::kObject, "", "page", {{"x-ms-copy-source", ""}}, blob_write, put_page_from_url},
    {"Put Page (clear)", "PageBlob_ClearPages", "PUT", Level::kObject, "", "page", {{"x-ms-page-write", "clear"}}, blob_write, clear_pages},
    {"Put Page", "PageBlob_UploadPages", "PUT", Level::kObject, "", "page", {{"x-ms-page-write", "update"}}, blob_write, put_page},
    {"Get Page Ranges", "PageBlob_GetPageRanges", "GET", Level::kObject, "", "pagelist", {}, blob_read, get_page_ranges},
    {"Incremental Copy Blob", "PageBlob_CopyIncremental", "PUT", Level::kObject, "", "incrementalcopy", {}, blob_create, incremental_copy_blob},

    // Creation, told apart by headers.
    {"Put Blob From URL", "BlockBlob_PutBlobFromUrl", "PUT", Level::kObject, "", "", {{"x-ms-blob-type", "BlockBlob"}, {"x-ms-copy-source", ""}}, blob_create, put_blob_from_url},
    {"Copy Blob From URL", "Blob_CopyFromURL", "PUT", Level::kObject, "", "", {{"x-ms-copy-source", ""}, {"x-ms-requires-sync", "true"}}, blob_create, copy_blob_from_url},
    {"Copy Blob", "Blob_StartCopyFromURL", "PUT", Level::kObject, "", "", {{"x-ms-copy-source", ""}}, blob_create, copy_blob},
    {"Put Blob (page)", "PageBlob_Create", "PUT", Level::kObject, "", "", {{"x-ms-blob-type", "PageBlob"}}, blob_create, put_page_blob},
    {"Put Blob (append)", "AppendBlob_Create", "PUT", Level::kObject, "", "", {{"x-ms-blob-type", "AppendBlob"}}, blob_create, put_append_blob},
    {"Put Blob", "BlockBlob_Upload", "PUT", Level::kObject, "", "", {{"x-ms-blob-type", "BlockBlob"}}, blob_create, put_blob},
};
// clang-format on

}  // namespace

std::span<const Operation> operations() { return kOperations; }

}  // namespace kyanite::blob
