#include "file/records.h"

#include "base/bytes.h"

namespace kyanite::file {

std::string instant_row(Time instant) {
  std::string row;
  append_be64(row, static_cast<uint64_t>(instant.ticks));
  return row;
}

store::Key snapshot_key(store::SpaceId space, Time instant) {
  return store::Key(space, kSnapshots, kSharePartition, instant_row(instant));
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
