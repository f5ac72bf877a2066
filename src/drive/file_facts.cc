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

namespace {

// What a name of DOS may be made of, in capitals.
std::string dos_letters(std::string_view text, size_t most) {
  std::string letters;
  for (const char letter : text) {
    const char c = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
    const bool fits = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (fits && letters.size() < most) letters += c;
  }
  return letters;
}

}  // namespace

std::string alternate_name(const std::string& name) {
  constexpr size_t kBase = 8;
  constexpr size_t kExtension = 3;
  constexpr char kDigits[] = "0123456789ABCDEF";
  const size_t dot = std::min(name.rfind('.'), name.size());
  const std::string_view base = std::string_view(name).substr(0, dot);
  const std::string_view rest = std::string_view(name).substr(std::min(dot + 1, name.size()));
  std::string extension = dos_letters(rest, kExtension);
  std::string short_base = dos_letters(base, kBase);
  const bool is_short =
      short_base.size() == base.size() && extension.size() == rest.size() && !short_base.empty();
  if (!is_short) {
    uint32_t hash = 2166136261;
    for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619;
    short_base = dos_letters(base, 2);
    for (int i = 0; i < 4; ++i) short_base += kDigits[hash >> (4 * i) & 15];
    short_base += "~1";
  }
  return extension.empty() ? short_base : short_base + "." + extension;
}

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
