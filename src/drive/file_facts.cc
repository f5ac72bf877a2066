#include "drive/file_facts.h"

#include <algorithm>
#include <utility>

#include "smb/numbers.h"
#include "smb/times.h"

namespace kyanite::drive {

smb::FileTimes times_of(const tree::Entry& entry) {
  const auto& smb = entry.smb;
  const Time accessed = smb.accessed.set() ? smb.accessed : smb.written;
  return {smb::to_file_time(smb.created), smb::to_file_time(accessed),
          smb::to_file_time(smb.written), smb::to_file_time(smb.changed)};
}

uint32_t attributes_of(const tree::Entry& entry) {
  const uint32_t attributes =
      entry.smb.attributes | (entry.directory ? smb::attribute::kDirectory : 0);
  return attributes != 0 ? attributes : smb::attribute::kNormal;
}

uint64_t length_of(const tree::Entry& entry) { return entry.directory ? 0 : entry.content.length; }

uint64_t allocation_of(const tree::Entry& entry, uint64_t asked) {
  if (entry.directory) return 0;
  const uint64_t bytes = std::max(entry.content.length, asked);
  return (bytes + kClusterBytes - 1) / kClusterBytes * kClusterBytes;
}

uint64_t file_id_of(tree::EntryId id) { return id == tree::kRootId ? 1 : id; }

smb::DirectoryEntry directory_entry(const tree::Entry& entry, std::string name) {
  smb::DirectoryEntry told;
  told.times = times_of(entry);
  told.end_of_file = length_of(entry);
  told.allocation_size = allocation_of(entry);
  told.attributes = attributes_of(entry);
  told.file_id = file_id_of(entry.id);
  told.name = std::move(name);
  return told;
}

std::string wire_path(const std::string& path) {
  std::string wire = path;
  std::replace(wire.begin(), wire.end(), '/', '\\');
  return wire;
}

}  // namespace kyanite::drive
