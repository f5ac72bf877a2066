// What the File service stores of shares and their snapshots; what it stores in them is in
// tree/records.h. docs/formats/file.md describes the keys and the meaning of every field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "account/access_policies.h"
#include "base/clock.h"
#include "headers/lease.h"
#include "headers/metadata.h"
#include "store/key.h"
#include "tree/records.h"

namespace kyanite::file {

using tree::Entry;
using tree::EntryId;
using tree::Generation;
using tree::kRootId;
using tree::kSharePartition;
using tree::Permission;
using tree::ShareState;

// A family of a share's space; the others are those of its tree.
inline constexpr store::Family kSnapshots = 'S';  // row: instant_row(); Snapshot

enum class AccessTier : uint8_t { kTransactionOptimized, kHot, kCool, kPremium };
enum class RootSquash : uint8_t { kNone, kRoot, kAll };

// What clients can set of a share, and what a snapshot keeps of it.
struct ShareProperties {
  headers::Metadata metadata;
  uint64_t quota_gib = 0;
  AccessTier tier = AccessTier::kTransactionOptimized;
  Time tier_changed;
  bool nfs = false;  // x-ms-enabled-protocols: NFS instead of SMB.
  RootSquash root_squash = RootSquash::kNone;
  bool snapshot_directory = false;  // x-ms-enable-snapshot-virtual-directory-access
  bool paid_bursting = false;
  uint64_t paid_bursting_mibps = 0;
  uint64_t paid_bursting_iops = 0;
  uint64_t provisioned_iops = 0;
  uint64_t provisioned_mibps = 0;
  template <class Io>
  void fields(Io& io) {
    io(1, metadata);
    io(2, quota_gib);
    io(3, tier);
    io(4, tier_changed);
    io(5, nfs);
    io(6, root_squash);
    io(7, snapshot_directory);
    io(8, paid_bursting);
    io(9, paid_bursting_mibps);
    io(10, paid_bursting_iops);
    io(11, provisioned_iops);
    io(12, provisioned_mibps);
  }
};

// A share, in the account's directory (lifetime::kSharesFamily, partition: its name).
struct Share {
  store::SpaceId space = 0;  // The incarnation: where its files are.
  Time created;
  Time changed;  // ETag and Last-Modified.
  ShareProperties properties;
  headers::StoredLease lease;
  std::vector<account::StoredPolicy> policies;
  uint64_t withdrawn = 0;  // How many deletions of it were withdrawn: see ShareState::deletion.

  uint64_t quota_bytes() const {
    return properties.quota_gib == 0 ? UINT64_MAX : properties.quota_gib << 30;
  }
  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, created);
    io(3, changed);
    io(4, properties);
    io(5, lease);
    io(6, policies);
    io(7, withdrawn);
  }
};

// A snapshot of a share: what the share was like, and the generation whose entries it shows.
struct Snapshot {
  Generation generation = 0;
  Time changed;  // ETag and Last-Modified.
  ShareProperties properties;
  headers::StoredLease lease;
  std::vector<account::StoredPolicy> policies;
  template <class Io>
  void fields(Io& io) {
    io(1, generation);
    io(2, changed);
    io(3, properties);
    io(4, lease);
    io(5, policies);
  }
};

// 8 bytes, big endian.
std::string instant_row(Time instant);

store::Key snapshot_key(store::SpaceId space, Time instant);

std::string_view name(AccessTier tier);
std::string_view name(RootSquash squash);

}  // namespace kyanite::file
