#include "file/records.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::file {

bool ShareState::shows(Generation from, Generation until) const {
  const auto first = std::lower_bound(snapshots.begin(), snapshots.end(), from);
  return first != snapshots.end() && *first < until;
}

std::string entry_row(EntryId parent, std::string_view folded) {
  std::string row;
  row.reserve(8 + folded.size());
  append_be64(row, parent);
  return row.append(folded);
}

std::string former_row(EntryId parent, std::string_view folded, Generation until) {
  std::string row = entry_row(parent, folded);
  row += '\0';
  append_be64(row, until);
  return row;
}

std::string instant_row(Time instant) {
  std::string row;
  append_be64(row, static_cast<uint64_t>(instant.ticks));
  return row;
}

store::Key entry_key(store::SpaceId space, EntryId parent, std::string_view folded) {
  return store::Key(space, kEntries, kSharePartition, entry_row(parent, folded));
}

store::Key former_key(store::SpaceId space, EntryId parent, std::string_view folded,
                      Generation until) {
  return store::Key(space, kFormer, kSharePartition, former_row(parent, folded, until));
}

store::Key state_key(store::SpaceId space) { return store::Key(space, kState, kSharePartition); }

store::Key snapshot_key(store::SpaceId space, Time instant) {
  return store::Key(space, kSnapshots, kSharePartition, instant_row(instant));
}

store::Key permission_key(store::SpaceId space, std::string_view key) {
  return store::Key(space, kPermissions, kSharePartition, key);
}

std::string_view name(AccessTier tier) {
  switch (tier) {
    case AccessTier::kTransactionOptimized:
      return "TransactionOptimized";
    case AccessTier::kHot:
      return "Hot";
    case AccessTier::kCool:
      return "Cool";
    case AccessTier::kPremium:
      return "Premium";
  }
  return "";
}

std::string_view name(RootSquash squash) {
  switch (squash) {
    case RootSquash::kNone:
      return "NoRootSquash";
    case RootSquash::kRoot:
      return "RootSquash";
    case RootSquash::kAll:
      return "AllSquash";
  }
  return "";
}

}  // namespace kyanite::file
