// What the Blob service stores. docs/formats/blob.md describes the keys and the meaning of every
// field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "account/access_policies.h"
#include "auth/caller.h"
#include "auth/posix_acl.h"
#include "base/clock.h"
#include "content/cleared.h"
#include "content/content.h"
#include "headers/copy_state.h"
#include "headers/http_properties.h"
#include "headers/lease.h"
#include "headers/metadata.h"
#include "store/key.h"

namespace kyanite::blob {

// Families of a container's space; blob/place.h says which partitions a blob has. Content leaves
// are content::kContentFamily.
inline constexpr store::Family kHeads = 'H';   // row: see head_row()
inline constexpr store::Family kBlocks = 'B';  // row: block id, decoded. Uncommitted blocks.
inline constexpr store::Family kBlockLists =
    'L';  // row: content id. Ids and sizes of the committed blocks.
inline constexpr store::Family kAppended =
    'A';  // row: draft, position. Bytes that wait to be flushed: datalake/drafts.h.
inline constexpr store::Family kDeletedPaths =
    'K';  // row: when it was deleted. Paths that can be restored: blob/deleted_paths.h.
inline constexpr store::Family kDeadTrees =
    'R';  // row: empty. Files and directories that are gone and not cleared: blob/dead_trees.h.
inline constexpr store::Family kTagChanges =
    'T';  // row: request id. Tags that a blob is about to get: blob/tag_entry.h.

struct Container {
  store::SpaceId space = 0;  // The incarnation: where its blobs are.
  Time created;
  Time changed;  // ETag and Last-Modified.
  headers::Metadata metadata;
  headers::StoredLease lease;
  auth::PublicAccess public_access = auth::PublicAccess::kNone;
  std::vector<account::StoredPolicy> policies;
  // It has directories: its blobs are in the account's lake space, below a root that has `space` as
  // its id (blob/hierarchy.h).
  bool hierarchical = false;
  std::string root_owner;  // Who made it, where that is not the account itself.

  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, created);
    io(3, changed);
    io(4, metadata);
    io(5, lease);
    io(6, public_access);
    io(7, policies);
    io(8, hierarchical);
    io(9, root_owner);
  }
};

enum class BlobType : uint8_t { kBlock, kPage, kAppend };

using headers::HttpProperties;

// kInferred is the account's default, never set by a client.
enum class Tier : uint8_t { kInferred, kHot, kCool, kCold, kArchive, kPremium };

using headers::Copy;
using headers::CopyStatus;

// Time-based retention of one blob or version.
struct Immutability {
  Time until;
  bool locked = false;
  template <class Io>
  void fields(Io& io) {
    io(1, until);
    io(2, locked);
  }
};

// What a file or directory has where there are directories.
struct Node {
  bool directory = false;
  // Directories: somebody is about to delete it and has yet to see that it is empty. Whoever puts
  // something into it withdraws the mark in the same commit, which makes the deletion look again.
  bool deleting = false;
  auth::posix::AccessControl access;
  std::string encryption_context;
  // Directories: how often it was renamed, and how often the mark above was withdrawn. So one that
  // went away and came back, or that was marked anew, is told from one that stayed as it was.
  // Files: how often another was made in its place under the same id. So a snapshot of the former
  // one, which belongs to others, is told from one of its own.
  uint64_t moves = 0;
  std::string transaction;  // What the client called the request that made it, or put it here.
  template <class Io>
  void fields(Io& io) {
    io(1, directory);
    io(2, deleting);
    io(3, access);
    io(4, encryption_context);
    io(5, moves);
    io(6, transaction);
  }
};

// What a directory has while another one becomes it, where directories are only names: what lies
// below moves in portions, and whoever asks for the same again goes on with it.
struct Arrival {
  std::string from;      // Container and path of the other one, with a slash between them.
  bool implied = false;  // The other one has no blob of its own: neither has this one in the end.
  template <class Io>
  void fields(Io& io) {
    io(1, from);
    io(2, implied);
  }
};

using Tags = std::vector<std::pair<std::string, std::string>>;

// A head: the blob itself, one of its snapshots, or one of its former versions.
struct Blob {
  BlobType type = BlobType::kBlock;
  Time created;
  Time changed;  // ETag and Last-Modified.
  content::Content content;
  HttpProperties http;
  headers::Metadata metadata;
  headers::StoredLease lease;
  Tier tier = Tier::kInferred;
  Time tier_changed;
  Tier rehydrate_to = Tier::kInferred;  // Set while an archived blob is being brought back,
  std::string rehydrate_priority;
  Time rehydrated;  // which is done then.
  Tags tags;
  // Other heads of this blob may name the same content; it is deleted with the last of them.
  bool content_shared = false;
  uint64_t committed_blocks = 0;  // block blobs made of blocks, append blobs: how many
  uint64_t sequence_number = 0;   // page blobs
  bool sealed = false;            // append blobs
  Time version;                   // The version id, where versioning is on.
  Time deleted;                   // Set: soft-deleted since then,
  Time removal;                   // and to be removed for good then.
  Copy copy;
  Immutability immutability;
  bool legal_hold = false;
  bool legal_hold_ended = false;  // There was one: that there is none now is told.
  Time expires;                   // Set Blob Expiry
  std::string key_sha256;        // Content is encrypted with the customer's key that has this hash.
  content::ClearedRuns cleared;  // page blobs: what was cleared since a snapshot, and when
  // The last snapshot that was taken of it, so that a deletion that saw no snapshots fails when one
  // is taken meanwhile.
  Time snapshot_taken;
  std::optional<Node> node;  // Where there are directories,
  uint64_t node_id = 0;      // its id, which is no other's and goes along when it is renamed,
  uint64_t draft = 0;        // and what was appended to it under this number waits to be flushed.
  std::optional<Arrival> arrival;  // Where there are none: it is being made by a rename.

  bool is_directory() const { return node && node->directory; }
  // Whether it was made, or is written to, by Data Lake: the Blob API replaces such a file as a
  // whole and adds nothing to it.
  bool is_lake_file() const { return draft != 0; }

  // What every blob has its own of comes before what most have alike: listings read the two apart.
  static constexpr uint32_t kFirstOtherField = 7;
  static constexpr uint32_t kNodeIdField = 31;  // From here on it is each blob's own again.
  template <class Io>
  void other_fields(Io& io) {
    io(7, lease);
    io(8, tier);
    io(9, tier_changed);
    io(10, rehydrate_to);
    io(11, rehydrate_priority);
    io(12, tags);
    io(13, content_shared);
    io(14, committed_blocks);
    io(15, sequence_number);
    io(16, sealed);
    io(17, version);
    io(18, deleted);
    io(19, removal);
    io(20, copy);
    io(21, immutability);
    io(22, legal_hold);
    io(23, expires);
    io(24, key_sha256);
    io(26, rehydrated);
    io(27, legal_hold_ended);
    io(28, snapshot_taken);
    io(29, cleared);
    io(30, node);
    io(kNodeIdField, node_id);
    io(32, draft);
    io(33, arrival);
  }
  template <class Io>
  void fields(Io& io) {
    io(1, type);
    io(2, created);
    io(3, changed);
    io(4, content);
    io(5, http);
    io(6, metadata);
    other_fields(io);
  }
};

// The row of a head within its partition: empty for the blob itself, 's' and the instant of a
// snapshot, 'v' and the id of a former version. Instants are 8 bytes big endian, so rows sort by
// age.
std::string snapshot_row(Time snapshot);
std::string version_row(Time version);
// What a row says: at most one of the two is set.
struct RowInstant {
  Time snapshot;
  Time version;
};
RowInstant parse_row(std::string_view row);

// Whether the time that an archived blob takes to be brought back is over,
bool is_rehydrated(const Blob& blob, Time now);
// when it has its new tier.
void finish_rehydration(Blob& blob, Time now);

// The metadata that marks a directory to clients of the Blob API.
inline constexpr std::string_view kFolderMark = "hdi_isfolder";
// Whether it is a directory, or says so by that where there are none.
bool is_folder(const Blob& blob);
// "file" or "directory".
std::string_view resource_type(const Blob& blob);

std::string_view name(BlobType type);
std::string_view name(auth::PublicAccess access);  // "" for none
// What x-ms-access-tier says; an inferred tier is the account's default.
std::string_view name(Tier tier);

}  // namespace kyanite::blob
