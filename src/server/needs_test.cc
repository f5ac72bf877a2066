// What the REST reference ("Create an account SAS") says that each operation takes of an account
// SAS, written down apart from the operation tables and held against every row of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "auth/authorize.h"
#include "blob/operations.h"
#include "file/operations.h"
#include "queue/operations.h"
#include "service/operation.h"
#include "table/operations.h"

namespace kyanite::server {
namespace {

struct Documented {
  const char* types;    // "": no account SAS can do it
  const char* letters;  // any one of them
};
using Reference = std::map<std::string_view, Documented>;

constexpr const char* kAnyType = "sco";

const Reference kBlob = {
    {"List Containers", {"s", "l"}},
    {"Get Blob Service Properties", {"s", "r"}},
    {"Set Blob Service Properties", {"s", "w"}},
    {"Get Blob Service Stats", {"s", "r"}},
    {"Get User Delegation Key", {"", ""}},
    {"Get Account Information", {kAnyType, "rwdlacup"}},
    {"Find Blobs by Tags", {"o", "f"}},
    {"Create Container", {"c", "cw"}},
    {"Get Container Properties", {"c", "r"}},
    {"Get Container Metadata", {"c", "r"}},
    {"Set Container Metadata", {"c", "w"}},
    {"Get Container ACL", {"", ""}},
    {"Set Container ACL", {"", ""}},
    {"Lease Container (break)", {"c", "wd"}},
    {"Lease Container", {"c", "w"}},
    {"Delete Container", {"c", "d"}},
    {"List Blobs", {"c", "l"}},
    {"Restore Container", {"c", "w"}},
    {"Find Blobs by Tags in Container", {"c", "f"}},
    {"Get Blob", {"o", "r"}},
    {"Get Blob Properties", {"o", "r"}},
    {"Get Blob Metadata", {"o", "r"}},
    {"Set Blob Properties", {"o", "w"}},
    {"Set Blob Metadata", {"o", "w"}},
    {"Lease Blob (break)", {"o", "wd"}},
    {"Lease Blob", {"o", "w"}},
    {"Delete Blob", {"o", "dxy"}},
    {"Undelete Blob", {"o", "w"}},
    {"Set Blob Expiry", {"o", "w"}},
    {"Set Blob Immutability Policy", {"o", "i"}},
    {"Delete Blob Immutability Policy", {"o", "i"}},
    {"Set Blob Legal Hold", {"o", "i"}},
    {"Snapshot Blob", {"o", "cw"}},
    {"Set Blob Tier", {"o", "w"}},
    {"Get Blob Tags", {"o", "t"}},
    {"Set Blob Tags", {"o", "t"}},
    {"Query Blob Contents", {"o", "r"}},
    {"Abort Copy Blob", {"o", "w"}},
    {"Put Block From URL", {"o", "w"}},
    {"Put Block", {"o", "w"}},
    {"Put Block List", {"o", "w"}},
    {"Get Block List", {"o", "r"}},
    {"Append Block From URL", {"o", "aw"}},
    {"Append Block", {"o", "aw"}},
    {"Append Blob Seal", {"o", "w"}},
    {"Put Page From URL", {"o", "w"}},
    {"Put Page (clear)", {"o", "w"}},
    {"Put Page", {"o", "w"}},
    {"Get Page Ranges", {"o", "r"}},
    {"Incremental Copy Blob", {"o", "cw"}},
    {"Put Blob From URL", {"o", "cw"}},
    {"Copy Blob From URL", {"o", "cw"}},
    {"Copy Blob", {"o", "cw"}},
    {"Put Blob (page)", {"o", "cw"}},
    {"Put Blob (append)", {"o", "cw"}},
    {"Put Blob", {"o", "cw"}},
};

const Reference kQueue = {
    {"List Queues", {"s", "l"}},
    {"Get Queue Service Properties", {"s", "r"}},
    {"Set Queue Service Properties", {"s", "w"}},
    {"Get Queue Service Stats", {"s", "r"}},
    {"Get User Delegation Key (Queue)", {"", ""}},
    {"Create Queue", {"c", "cw"}},
    {"Delete Queue", {"c", "d"}},
    {"Get Queue Metadata", {"c", "r"}},
    {"Set Queue Metadata", {"c", "w"}},
    {"Get Queue ACL", {"", ""}},
    {"Set Queue ACL", {"", ""}},
    {"Put Message", {"o", "a"}},
    {"Peek Messages", {"o", "r"}},
    {"Get Messages", {"o", "p"}},
    {"Clear Messages", {"o", "d"}},
    {"Update Message", {"o", "u"}},
    {"Delete Message", {"o", "p"}},
};

const Reference kTable = {
    {"Get Table Service Properties", {"s", "r"}},
    {"Set Table Service Properties", {"s", "w"}},
    {"Get Table Service Stats", {"s", "r"}},
    {"Query Tables", {"c", "l"}},
    {"Create Table", {"c", "cw"}},
    {"Delete Table", {"c", "d"}},
    {"Get Table ACL", {"", ""}},
    {"Set Table ACL", {"", ""}},
    {"Query Entities", {"o", "r"}},
    {"Query Entities (point)", {"o", "r"}},
    {"Insert Entity", {"o", "a"}},
    // An upsert takes add and update; the first is looked at when the entity is written.
    {"Insert Or Replace Entity", {"o", "u"}},
    {"Insert Or Merge Entity", {"o", "u"}},
    {"Update Entity", {"o", "u"}},
    {"Merge Entity", {"o", "u"}},
    {"Delete Entity", {"o", "d"}},
    {"Entity Group Transaction", {"o", "raud"}},
};

const Reference kFile = {
    {"List Shares", {"s", "l"}},
    {"Get File Service Properties", {"s", "r"}},
    {"Set File Service Properties", {"s", "w"}},
    {"Get User Delegation Key", {"", ""}},
    {"Create Share", {"c", "cw"}},
    {"Get Share Properties", {"c", "r"}},
    {"Get Share Metadata", {"c", "r"}},
    {"Set Share Properties", {"c", "w"}},
    {"Set Share Metadata", {"c", "w"}},
    {"Get Share ACL", {"", ""}},
    {"Set Share ACL", {"", ""}},
    {"Get Share Stats", {"c", "r"}},
    {"Lease Share (break)", {"c", "wd"}},
    {"Lease Share", {"c", "w"}},
    {"Snapshot Share", {"c", "cw"}},
    {"Delete Share", {"c", "d"}},
    {"Restore Share", {"c", "w"}},
    {"Create Permission", {"c", "cw"}},
    {"Get Permission", {"c", "r"}},
    {"Create Directory", {"o", "cw"}},
    {"Get Directory Properties", {"o", "r"}},
    {"Get Directory Metadata", {"o", "r"}},
    {"Set Directory Properties", {"o", "w"}},
    {"Set Directory Metadata", {"o", "w"}},
    {"Delete Directory", {"o", "d"}},
    // The list permission is one of services and containers only.
    {"List Directories and Files", {"c", "l"}},
    {"List Handles", {"c", "l"}},
    {"Force Close Handles", {"o", "w"}},
    {"Rename Directory", {"o", "w"}},
    {"Get File", {"o", "r"}},
    {"Get File Properties", {"o", "r"}},
    {"Get File Metadata", {"o", "r"}},
    {"Set File Properties", {"o", "w"}},
    {"Set File Metadata", {"o", "w"}},
    {"Lease File (break)", {"o", "wd"}},
    {"Lease File", {"o", "w"}},
    {"Delete File", {"o", "d"}},
    {"Put Range From URL", {"o", "w"}},
    {"Put Range (clear)", {"o", "w"}},
    {"Put Range", {"o", "w"}},
    {"List Ranges", {"o", "r"}},
    {"Abort Copy File", {"o", "w"}},
    {"Rename File", {"o", "w"}},
    {"Create Symbolic Link", {"o", "cw"}},
    {"Get Symbolic Link", {"o", "r"}},
    {"Create Hard Link", {"o", "cw"}},
    {"Copy File", {"o", "cw"}},
    {"Create File", {"o", "cw"}},
};

// Batches take what their parts take; Data Lake is answered by name to whoever gets in at all.
bool is_apart(std::string_view name) {
  return name == "Blob Batch" || name.starts_with("Data Lake: ");
}

// The root of a share is a directory like any other.
std::string_view documented_name(std::string_view name) {
  constexpr std::string_view kRoot = " (root)";
  return name.ends_with(kRoot) ? name.substr(0, name.size() - kRoot.size()) : name;
}

void hold_against(wire::Service service, std::span<const service::Operation> operations,
                  const Reference& reference) {
  std::map<std::string_view, int> met;
  for (const auto& operation : operations) {
    if (is_apart(operation.name)) continue;
    SCOPED_TRACE(std::string(name(service)) + ": " + std::string(operation.name));
    const auto found = reference.find(documented_name(operation.name));
    ASSERT_NE(found, reference.end());
    ++met[found->first];
    const auto& [types, letters] = found->second;
    auth::Target target;
    target.service = service;
    target.level = operation.level;
    auth::Caller caller;
    caller.kind = auth::Caller::Kind::kAccountSas;
    caller.services = "bqtf";
    // Every type with every letter.
    for (const char type : {'s', 'c', 'o'}) {
      for (char letter = 'a'; letter <= 'z'; ++letter) {
        caller.resource_types = type;
        caller.permissions = letter;
        const bool allowed = auth::Letters(types).has(type) && auth::Letters(letters).has(letter);
        EXPECT_EQ(auth::authorize(caller, operation.need, target, {}).ok(), allowed)
            << "srt=" << type << " sp=" << letter;
      }
    }
  }
  EXPECT_EQ(met.size(), reference.size());
}

TEST(Needs, OfAccountTokensAreTheDocumentedOnes) {
  hold_against(wire::Service::kBlob, blob::operations(), kBlob);
  hold_against(wire::Service::kQueue, queue::operations(), kQueue);
  hold_against(wire::Service::kTable, table::operations(), kTable);
  hold_against(wire::Service::kFile, file::operations(), kFile);
}

// What a token for a snapshot or version reaches must look at the one that is named.
TEST(Needs, OnlyWhatReadsAFormerStateIsWithinReachOfItsTokens) {
  const std::string_view reached[] = {"Get Blob",
                                      "Get Blob Properties",
                                      "Get Blob Metadata",
                                      "Get Blob Tags",
                                      "Set Blob Tags",
                                      "Set Blob Tier",
                                      "Delete Blob",
                                      "Get Block List",
                                      "Get Page Ranges",
                                      "Query Blob Contents",
                                      "Set Blob Immutability Policy",
                                      "Delete Blob Immutability Policy",
                                      "Set Blob Legal Hold",
                                      "Get Account Information"};
  for (const auto& operation : blob::operations()) {
    auth::Caller caller;
    caller.kind = auth::Caller::Kind::kServiceSas;
    caller.scope = auth::Scope::kSnapshot;
    caller.permissions = "racwdxyltfmeopi";
    auth::Target target;
    target.level = auth::Level::kObject;
    target.container = "c";
    target.object = "b";
    target.version_id = "2026-03-01T11:30:00.1234567Z";
    const bool expected =
        operation.level == auth::Level::kObject &&
        std::find(std::begin(reached), std::end(reached), operation.name) != std::end(reached);
    target.level = operation.level;
    EXPECT_EQ(auth::authorize(caller, operation.need, target, {}).ok(), expected) << operation.name;
  }
}

// At the level of a container a token for a directory lists its names, and nothing else.
TEST(Needs, DirectoryTokensOnlyListAtTheLevelOfAContainer) {
  for (const auto& operation : blob::operations()) {
    if (operation.level == auth::Level::kObject) continue;
    auth::Caller caller;
    caller.kind = auth::Caller::Kind::kServiceSas;
    caller.scope = auth::Scope::kDirectory;
    caller.directory = "a/b";
    caller.permissions = "racwdxyltfmeopi";
    auth::Target target;
    target.level = operation.level;
    target.container = "c";
    target.prefix = "a/b/";
    EXPECT_EQ(auth::authorize(caller, operation.need, target, {}).ok(),
              operation.name == "List Blobs")
        << operation.name;
  }
}

}  // namespace
}  // namespace kyanite::server
