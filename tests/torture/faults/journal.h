// What every change that is not synced yet has overwritten, so that tests/torture/power.py can take
// it back: the server is killed, and what the power cut would have lost is undone.
//
// The journal is a file of entries, written before the change they are about (names: after). The
// place of an entry in it is its number. A sync of a file makes its entries void that were there
// when the sync began, except those of writes that had not returned yet; a sync of a directory does
// so for the names in it.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string_view>

namespace kyanite::faults {

enum class EntryType : uint32_t { kBytes = 1, kSync = 2, kCreate = 3, kUnlink = 4, kRename = 5 };

struct Entry {
  uint32_t magic = 0x554e444f;
  EntryType type;
  // Of the file; of the directory where the entry is about names in it or about its sync.
  uint64_t inode = 0;
  // kBytes: which; kSync: the end of the journal when the sync began; kCreate: the inode of the
  // file, which another may have had before.
  uint64_t offset = 0;
  uint64_t length = 0;     // kBytes: how many; what of them lay beyond old_size was not there.
  uint64_t old_size = 0;   // kBytes: of the file.
  uint32_t first = 0;      // Length of the first name that follows,
  uint32_t second = 0;     // of the second,
  uint32_t third = 0;      // of the third,
  uint32_t old_bytes = 0;  // and of the bytes. None where there were some: all of them were zeros.
};

// A change of bytes under way. From the constructor, before it, to the destructor, after it.
class Change {
 public:
  Change(int descriptor, const struct stat& found, uint64_t offset, uint64_t length);
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  uint64_t inode_ = 0;
  uint64_t number_ = 0;
};

// Before and after a sync.
class Syncing {
 public:
  explicit Syncing(const struct stat& found);
  void done() const;

 private:
  struct stat found_;
  uint64_t end_ = 0;
  std::string_view not_returned() const;
  uint64_t numbers_[64] = {};
  size_t count_ = 0;
};

void note_created(std::string_view path);
// Before the name goes; keeps the file under another.
void note_unlink(std::string_view path);
void note_rename(std::string_view from, std::string_view to);

}  // namespace kyanite::faults
