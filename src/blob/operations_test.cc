#include "blob/operations.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kyanite::blob {
namespace {

// Every operation of the Blob protocol by the id of its specification, and the row that serves it
// where that has another id: operations that differ only in what their headers or parameters say
// share a row.
struct Specified {
  std::string_view id;
  std::string_view row;  // "": the same id
};
constexpr Specified kSpecified[] = {
    // The service.
    {"Service_ListContainersSegment", ""},
    {"Service_GetProperties", ""},
    {"Service_SetProperties", ""},
    {"Service_GetStatistics", ""},
    {"Service_GetAccountInfo", ""},
    {"Service_GetAccountInfoWithHead", ""},
    {"Service_GetUserDelegationKey", ""},
    {"Service_FilterBlobs", ""},
    {"Service_SubmitBatch", ""},
    // Containers.
    {"Container_Create", ""},
    {"Container_Delete", ""},
    {"Container_Restore", ""},
    {"Container_GetProperties", ""},
    {"Container_GetPropertiesWithHead", ""},
    {"Container_SetMetadata", ""},
    {"Container_GetAccessPolicy", ""},
    {"Container_SetAccessPolicy", ""},
    {"Container_GetAccountInfo", ""},
    {"Container_GetAccountInfoWithHead", ""},
    {"Container_FilterBlobs", ""},
    {"Container_SubmitBatch", ""},
    {"Container_ListBlobFlatSegment", "Container_ListBlobs"},
    {"Container_ListBlobHierarchySegment", "Container_ListBlobs"},
    {"Container_ListBlobFlatSegmentApacheArrow", "Container_ListBlobs"},
    {"Container_ListBlobHierarchySegmentApacheArrow", "Container_ListBlobs"},
    {"Container_AcquireLease", "Container_Lease"},
    {"Container_BreakLease", ""},
    {"Container_ChangeLease", "Container_Lease"},
    {"Container_ReleaseLease", "Container_Lease"},
    {"Container_RenewLease", "Container_Lease"},
    // Blobs of every type.
    {"Blob_Download", ""},
    {"Blob_GetProperties", ""},
    {"Blob_GetTags", ""},
    {"Blob_GetAccountInfo", ""},
    {"Blob_GetAccountInfoWithHead", ""},
    {"Blob_Query", ""},
    {"Blob_SetHttpHeaders", ""},
    {"Blob_SetMetadata", ""},
    {"Blob_SetTags", ""},
    {"Blob_SetTier", ""},
    {"Blob_SetExpiry", ""},
    {"Blob_SetImmutabilityPolicy", ""},
    {"Blob_DeleteImmutabilityPolicy", ""},
    {"Blob_SetLegalHold", ""},
    {"Blob_CreateSnapshot", ""},
    {"Blob_StartCopyFromURL", ""},
    {"Blob_CopyFromURL", ""},
    {"Blob_AbortCopyFromURL", ""},
    {"Blob_Delete", ""},
    {"Blob_Undelete", ""},
    {"Blob_AcquireLease", "Blob_Lease"},
    {"Blob_BreakLease", ""},
    {"Blob_ChangeLease", "Blob_Lease"},
    {"Blob_ReleaseLease", "Blob_Lease"},
    {"Blob_RenewLease", "Blob_Lease"},
    // Block blobs.
    {"BlockBlob_Upload", ""},
    {"BlockBlob_PutBlobFromUrl", ""},
    {"BlockBlob_StageBlock", ""},
    {"BlockBlob_StageBlockFromURL", ""},
    {"BlockBlob_CommitBlockList", ""},
    {"BlockBlob_GetBlockList", ""},
    // Append blobs.
    {"AppendBlob_Create", ""},
    {"AppendBlob_AppendBlock", ""},
    {"AppendBlob_AppendBlockFromUrl", ""},
    {"AppendBlob_Seal", ""},
    // Page blobs.
    {"PageBlob_Create", ""},
    {"PageBlob_UploadPages", ""},
    {"PageBlob_UploadPagesFromURL", ""},
    {"PageBlob_ClearPages", ""},
    {"PageBlob_GetPageRanges", ""},
    {"PageBlob_GetPageRangesDiff", "PageBlob_GetPageRanges"},
    {"PageBlob_CopyIncremental", ""},
    {"PageBlob_Resize", "Blob_SetHttpHeaders"},
    {"PageBlob_UpdateSequenceNumber", "Blob_SetHttpHeaders"},
};

// Rows of the REST reference that the specification has no id for.
constexpr std::string_view kUnspecified[] = {
    "Container_GetMetadata", "Container_GetMetadataWithHead", "Container_GetAccessPolicyWithHead",
    "Blob_GetMetadata",      "Blob_GetMetadataWithHead",      "Service_SubmitBatchByPath",
};

TEST(BlobOperations, EveryOperationOfTheProtocolHasARow) {
  std::set<std::string_view> rows;
  for (const auto& operation : operations())
    EXPECT_TRUE(rows.insert(operation.id).second) << operation.id << " twice";
  std::set<std::string_view> known(std::begin(kUnspecified), std::end(kUnspecified));
  for (const auto& specified : kSpecified) {
    const auto row = specified.row.empty() ? specified.id : specified.row;
    EXPECT_TRUE(rows.contains(row)) << specified.id;
    known.insert(row);
  }
  for (auto id : kUnspecified) EXPECT_TRUE(rows.contains(id)) << id;
  for (auto row : rows) EXPECT_TRUE(known.contains(row)) << row << " is no operation";
}

TEST(BlobOperations, EveryRowIsReachedByItsOwnRequest) {
  for (const auto& operation : operations()) {
    SCOPED_TRACE(std::string(operation.id));
    http::Request request;
    request.method = operation.method;
    for (const auto& selector : operation.selectors) {
      if (!selector.header.empty())
        request.headers.add(selector.header, selector.value.empty() ? "any" : selector.value);
    }
    std::string raw;
    if (!operation.restype.empty()) raw += "restype=" + std::string(operation.restype);
    if (!operation.comp.empty()) raw += "&comp=" + std::string(operation.comp);
    if (const auto& selector = operation.query_selector; !selector.parameter.empty())
      raw += "&" + std::string(selector.parameter) + "=" + std::string(selector.value);
    const auto query = wire::Query::parse(raw);
    ASSERT_TRUE(query);
    const auto found = service::route(operations(), request, *query, operation.level);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ((*found)->id, operation.id);
  }
}

// Reads must be within reach of a SAS that grants reading, and no SAS may reach an ACL.
TEST(BlobOperations, NeedsFitWhatTheOperationDoes) {
  for (const auto& operation : operations()) {
    SCOPED_TRACE(std::string(operation.id));
    EXPECT_FALSE(operation.name.empty());
    if (operation.comp == "acl") {
      EXPECT_TRUE(operation.need.account_sas.empty());
      EXPECT_TRUE(operation.need.service_sas.empty());
    }
    if (operation.need.anonymous != auth::PublicAccess::kNone) {
      EXPECT_TRUE(operation.reads());
    }
    if (!operation.reads() && operation.comp != "batch") {
      EXPECT_FALSE(operation.need.account_sas.has('r'));
      EXPECT_FALSE(operation.need.service_sas.has('r'));
    }
  }
}

}  // namespace
}  // namespace kyanite::blob
