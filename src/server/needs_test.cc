// What the REST reference ("Create an account SAS") says that each operation takes of an account
// SAS, written down apart from the operation tables and held against every row of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "auth/authorize.h"
#include "blob/operations.h"
#include "datalake/operations.h"
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

const Reference kLake = {
    {"Filesystem - List", {"s", "l"}},
    {"Filesystem - Create", {"c", "cw"}},
    {"Filesystem - Set Properties", {"c", "w"}},
    {"Filesystem - Get Properties", {"c", "r"}},
    {"Filesystem - Delete", {"c", "d"}},
    {"Path - List", {"c", "l"}},
    {"Path - Rename", {"o", "cw"}},
    {"Path - Create", {"o", "cw"}},
    {"Path - Update (append)", {"o", "aw"}},
    {"Path - Update (flush)", {"o", "aw"}},
    {"Path - Update (setProperties)", {"o", "w"}},
    {"Path - Update (setAccessControl)", {"o", "p"}},
    {"Path - Update (setAccessControlRecursive)", {"o", "p"}},
    {"Path - Lease (break)", {"o", "wd"}},
    {"Path - Lease", {"o", "w"}},
    {"Path - Read", {"o", "r"}},
    {"Path - Get Access Control", {"o", "r"}},
    {"Path - Get Status", {"o", "r"}},
    {"Path - Check Access", {"o", "r"}},
    {"Path - Get Properties", {"o", "r"}},
    {"Path - Delete", {"o", "d"}},
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
    auto [types, letters] = found->second;
    // The root of a file system is a path, and is addressed as a container.
    if (operation.name.starts_with("Path - ") && operation.level == auth::Level::kContainer &&
        operation.name != "Path - List")
      types = "co";
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
  hold_against(wire::Service::kBlob, datalake::operations(), kLake);
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

// What a service SAS takes in Data Lake, by the meaning of its letters ("Create a user delegation
// SAS"): read, add, create, write, delete, list, move, execute, ownership, permissions.
TEST(Needs, LettersOfPaths) {
  const std::map<std::string_view, const char*> documented = {
      {"Path - List", "l"},
      {"Path - Rename", "cwm"},
      {"Path - Create", "cw"},
      {"Path - Update (append)", "aw"},
      {"Path - Update (flush)", "aw"},
      {"Path - Update (setProperties)", "w"},
      {"Path - Update (setAccessControl)", "eop"},
      {"Path - Update (setAccessControlRecursive)", "eop"},
      {"Path - Lease (break)", "wd"},
      {"Path - Lease", "w"},
      {"Path - Read", "r"},
      {"Path - Get Access Control", "re"},
      {"Path - Get Status", "re"},
      {"Path - Check Access", "re"},
      {"Path - Get Properties", "r"},
      {"Path - Delete", "d"},
  };
  for (const auto& operation : datalake::operations()) {
    const auto found = documented.find(operation.name);
    const auth::Letters letters = found == documented.end() ? "" : found->second;
    EXPECT_EQ(operation.need.service_sas, letters) << operation.name;
  }
}

// What each role may do by itself, and what access control of paths decides for lesser ones.
struct Admission {
  auth::Role role;
  std::optional<auth::posix::Act> act;
};

TEST(Needs, RolesAndActs) {
  using auth::Role;
  using auth::posix::Act;
  const Admission everybody{Role::kNone, {}}, read{Role::kReader, {}},
      write{Role::kContributor, {}};
  const Admission look{Role::kReader, Act::kLook}, get{Role::kReader, Act::kReadFile},
      list{Role::kReader, Act::kListDirectory}, put{Role::kContributor, Act::kWriteFile},
      make{Role::kContributor, Act::kCreate}, remove{Role::kContributor, Act::kDelete},
      access{Role::kOwner, Act::kSetAccess};
  const std::map<std::string_view, Admission> admissions = {
      {"List Containers", read},
      {"Get Blob Service Properties", read},
      {"Set Blob Service Properties", write},
      {"Get Blob Service Stats", read},
      {"Get User Delegation Key", read},
      {"Get Account Information", read},
      {"Blob Batch", everybody},
      {"Find Blobs by Tags", read},
      {"Create Container", write},
      {"Get Container Properties", read},
      {"Get Container Metadata", read},
      {"Set Container Metadata", write},
      {"Get Container ACL", write},  // No token may at all.
      {"Set Container ACL", write},
      {"Lease Container (break)", write},
      {"Lease Container", write},
      {"Delete Container", write},
      {"List Blobs", list},
      {"Restore Container", write},
      {"Find Blobs by Tags in Container", read},
      {"Get Blob", get},
      {"Get Blob Properties", look},
      {"Get Blob Metadata", look},
      {"Set Blob Properties", put},
      {"Set Blob Metadata", put},
      {"Lease Blob (break)", put},
      {"Lease Blob", put},
      {"Delete Blob", remove},
      {"Undelete Blob", make},
      {"Set Blob Expiry", put},
      {"Set Blob Immutability Policy", write},
      {"Delete Blob Immutability Policy", write},
      {"Set Blob Legal Hold", write},
      {"Snapshot Blob", put},
      {"Set Blob Tier", put},
      {"Get Blob Tags", read},
      {"Set Blob Tags", write},
      {"Query Blob Contents", get},
      {"Abort Copy Blob", put},
      {"Put Block From URL", make},
      {"Put Block", make},
      {"Put Block List", make},
      {"Get Block List", get},
      {"Append Block From URL", put},
      {"Append Block", put},
      {"Append Blob Seal", put},
      {"Put Page From URL", put},
      {"Put Page (clear)", put},
      {"Put Page", put},
      {"Get Page Ranges", get},
      {"Incremental Copy Blob", make},
      {"Put Blob From URL", make},
      {"Copy Blob From URL", make},
      {"Copy Blob", make},
      {"Put Blob (page)", make},
      {"Put Blob (append)", make},
      {"Put Blob", make},
      {"Filesystem - List", read},
      {"Filesystem - Create", write},
      {"Filesystem - Set Properties", write},
      {"Filesystem - Get Properties", read},
      {"Filesystem - Delete", write},
      {"Path - List", list},
      {"Path - Rename", make},
      {"Path - Create", make},
      {"Path - Update (append)", put},
      {"Path - Update (flush)", put},
      {"Path - Update (setProperties)", put},
      {"Path - Update (setAccessControl)", access},
      {"Path - Update (setAccessControlRecursive)", access},
      {"Path - Lease (break)", put},
      {"Path - Lease", put},
      {"Path - Read", get},
      {"Path - Get Access Control", look},
      {"Path - Get Status", look},
      {"Path - Check Access", look},
      {"Path - Get Properties", look},
      {"Path - Delete", remove},
  };
  for (const auto operations : {blob::operations(), datalake::operations()}) {
    for (const auto& operation : operations) {
      const auto found = admissions.find(operation.name);
      ASSERT_NE(found, admissions.end()) << operation.name;
      EXPECT_EQ(operation.need.role, found->second.role) << operation.name;
      EXPECT_EQ(operation.need.act, found->second.act) << operation.name;
    }
  }
}

// In services without paths only roles decide: readers do what changes nothing.
TEST(Needs, ReadersOnlyRead) {
  for (const auto operations : {queue::operations(), table::operations(), file::operations()}) {
    for (const auto& operation : operations) {
      const auth::Need& need = operation.need;
      EXPECT_FALSE(need.act) << operation.name;
      if (need.role >= auth::Role::kContributor) continue;
      const bool apart = operation.name.starts_with("Get User Delegation Key") ||
                         operation.name == "Entity Group Transaction";
      if (apart) continue;
      EXPECT_TRUE(operation.reads()) << operation.name;
      EXPECT_FALSE(need.account_sas.has_any_of("wdacup")) << operation.name;
    }
  }
}

// At the level of a container a token for a directory lists its names, and nothing else.
TEST(Needs, DirectoryTokensOnlyListAtTheLevelOfAContainer) {
  for (const auto operations : {blob::operations(), datalake::operations()})
    for (const auto& operation : operations) {
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
                operation.name == "List Blobs" || operation.name == "Path - List")
          << operation.name;
    }
}

}  // namespace
}  // namespace kyanite::server
