// Entries of directories, as QUERY_DIRECTORY answers them in its seven classes, and what happened
// in them, as CHANGE_NOTIFY does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smb/chain.h"
#include "smb/create.h"
#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

struct DirectoryEntry {
  FileTimes times;
  uint64_t end_of_file = 0;
  uint64_t allocation_size = 0;
  uint32_t attributes = 0;
  uint32_t ea_size = 0;
  uint32_t reparse_tag = 0;
  uint64_t file_id = 0;
  std::string name;
  bool operator==(const DirectoryEntry&) const = default;

  // Behind the distance to the next entry. What a class does not have is left as it is.
  template <class Io>
  void fields(Io& io, FileClass info_class) {
    constexpr size_t kShortNameBytes = 26;  // Its length and 12 characters; no file has one.
    Later<uint32_t> name_bytes;
    io.reserved(4);  // An index, which no file system has.
    if (info_class != FileClass::kNames) io(times, end_of_file, allocation_size, attributes);
    io(name_bytes);
    if (info_class != FileClass::kNames && info_class != FileClass::kDirectory) io(ea_size);
    switch (info_class) {
      case FileClass::kBothDirectory:
        io.reserved(kShortNameBytes);
        break;
      case FileClass::kIdBothDirectory:
        io.reserved(kShortNameBytes + 2);
        io(file_id);
        break;
      case FileClass::kIdFullDirectory:
        io.reserved(4);
        io(file_id);
        break;
      case FileClass::kIdExtdDirectory:
        io(reparse_tag, file_id);
        io.reserved(8);
        break;
      default:
        break;
    }
    io.text(name_bytes, name);
  }
};

// Whether QUERY_DIRECTORY can be asked for it; otherwise INVALID_INFO_CLASS.
bool is_directory_class(FileClass info_class);

class DirectoryWriter {
 public:
  // Appends entries until they would be more than so many bytes.
  DirectoryWriter(std::string& out, FileClass info_class, size_t most_bytes)
      : info_class_(info_class), chain_(out, kAlignment, most_bytes) {}

  // False when there is no room: the entry belongs to the next answer, and if this is the first one
  // the client must be told INFO_LENGTH_MISMATCH.
  bool add(const DirectoryEntry& entry) {
    return chain_.add(
        [&](Writer& writer) { const_cast<DirectoryEntry&>(entry).fields(writer, info_class_); });
  }

  static constexpr size_t kAlignment = 8;

 private:
  const FileClass info_class_;
  ChainWriter chain_;
};

// Nothing unless all of it is well-formed.
std::optional<std::vector<DirectoryEntry>> read_directory(std::string_view output,
                                                          FileClass info_class);

struct Notification {
  NotifyAction action = NotifyAction::kAdded;
  std::string name;  // From the watched directory, with \ between its parts.
  bool operator==(const Notification&) const = default;

  template <class Io>
  void fields(Io& io) {
    Later<uint32_t> name_bytes;
    io(action, name_bytes);
    io.text(name_bytes, name);
  }
};

// Nothing when they are more than so many bytes: the client must read the directory anew
// (NOTIFY_ENUM_DIR).
std::optional<std::string> encode_notifications(const std::vector<Notification>& notifications,
                                                size_t most_bytes);
std::optional<std::vector<Notification>> read_notifications(std::string_view output);

}  // namespace kyanite::smb
