#include "smb/directory.h"

namespace kyanite::smb {

namespace {

constexpr size_t kNotificationAlignment = 4;

template <class Entry, class Read>
std::optional<std::vector<Entry>> read_all(std::string_view output, size_t alignment,
                                           const Read& read) {
  std::vector<Entry> entries;
  ChainReader chain(output, alignment);
  while (const auto bytes = chain.next()) {
    Reader reader(*bytes, sizeof(uint32_t));
    read(reader, entries.emplace_back());
    if (!reader.ok()) return {};
  }
  if (!chain.ok()) return {};
  return entries;
}

}  // namespace

bool is_directory_class(FileClass info_class) {
  switch (info_class) {
    case FileClass::kDirectory:
    case FileClass::kFullDirectory:
    case FileClass::kBothDirectory:
    case FileClass::kNames:
    case FileClass::kIdBothDirectory:
    case FileClass::kIdFullDirectory:
    case FileClass::kIdExtdDirectory:
      return true;
    default:
      return false;
  }
}

std::optional<std::vector<DirectoryEntry>> read_directory(std::string_view output,
                                                          FileClass info_class) {
  return read_all<DirectoryEntry>(
      output, DirectoryWriter::kAlignment,
      [&](Reader& reader, DirectoryEntry& entry) { entry.fields(reader, info_class); });
}

std::optional<std::string> encode_notifications(const std::vector<Notification>& notifications,
                                                size_t most_bytes) {
  std::string out;
  ChainWriter chain(out, kNotificationAlignment, most_bytes);
  for (const Notification& notification : notifications) {
    if (!chain.add([&](Writer& writer) { writer(notification); })) return {};
  }
  return out;
}

std::optional<std::vector<Notification>> read_notifications(std::string_view output) {
  return read_all<Notification>(output, kNotificationAlignment,
                                [](Reader& reader, Notification& entry) { reader(entry); });
}

}  // namespace kyanite::smb
