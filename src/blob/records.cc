#include "blob/records.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::blob {

std::string_view name(BlobType type) {
  switch (type) {
    case BlobType::kBlock:
      return "BlockBlob";
    case BlobType::kPage:
      return "PageBlob";
    case BlobType::kAppend:
      return "AppendBlob";
  }
  return "";
}

std::string_view name(auth::PublicAccess access) {
  switch (access) {
    case auth::PublicAccess::kNone:
      return "";
    case auth::PublicAccess::kBlob:
      return "blob";
    case auth::PublicAccess::kContainer:
      return "container";
  }
  return "";
}

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::kInferred:
    case Tier::kHot:
      return "Hot";
    case Tier::kCool:
      return "Cool";
    case Tier::kCold:
      return "Cold";
    case Tier::kArchive:
      return "Archive";
    case Tier::kPremium:
      return "Premium";
  }
  return "";
}

bool is_folder(const Blob& blob) {
  if (blob.node) return blob.node->directory;
  return std::any_of(blob.metadata.begin(), blob.metadata.end(), [](const auto& pair) {
    return equals_ignoring_case(pair.first, kFolderMark) &&
           equals_ignoring_case(pair.second, "true");
  });
}

std::string_view resource_type(const Blob& blob) { return is_folder(blob) ? "directory" : "file"; }

bool is_rehydrated(const Blob& blob, Time now) {
  return blob.rehydrate_to != Tier::kInferred && blob.rehydrated <= now;
}

void finish_rehydration(Blob& blob, Time now) {
  if (!is_rehydrated(blob, now)) return;
  blob.tier = blob.rehydrate_to;
  blob.tier_changed = blob.rehydrated;
  blob.rehydrate_to = Tier::kInferred;
  blob.rehydrate_priority.clear();
  blob.rehydrated = {};
}

namespace {
constexpr char kSnapshotMark = 's';
constexpr char kVersionMark = 'v';

std::string marked_row(char mark, Time instant) {
  std::string row(1, mark);
  append_be64(row, static_cast<uint64_t>(instant.ticks));
  return row;
}
}  // namespace

std::string snapshot_row(Time snapshot) { return marked_row(kSnapshotMark, snapshot); }
std::string version_row(Time version) { return marked_row(kVersionMark, version); }

RowInstant parse_row(std::string_view row) {
  if (row.size() != 9) return {};
  const Time instant{static_cast<int64_t>(read_be64(row.data() + 1))};
  if (row.front() == kSnapshotMark) return {instant, {}};
  return {{}, instant};
}

}  // namespace kyanite::blob
