#include "journal.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "raw.h"
#include "state.h"

namespace kyanite::faults {

namespace {

constexpr size_t kLargestRead = 1 << 20;

struct UnderWay {
  uint64_t inode;
  uint64_t number;
};
struct KeptFile {
  uint64_t directory;
  uint64_t number;
  std::string path;
};
struct Journal {
  std::mutex mutex;
  std::vector<UnderWay> under_way;
  std::vector<KeptFile> kept;
  uint64_t next_kept = 0;
};
Journal& journal() {
  static auto* only = new Journal;  // Never destroyed: threads may still write files at exit.
  return *only;
}

bool is_kept() { return state() != nullptr && state()->journal >= 0; }

[[noreturn]] void fail() {
  constexpr std::string_view kWhy = "the fault library cannot write its journal\n";
  raw(SYS_write, 2, kWhy.data(), kWhy.size());
  raw(SYS_exit_group, 98);
  __builtin_unreachable();
}

uint64_t end_of_journal() {
  struct stat found {};
  if (raw(SYS_fstat, state()->journal, &found) != 0) fail();
  return static_cast<uint64_t>(found.st_size);
}

// Returns the number of the entry. One write, so that a kill leaves it whole or absent.
uint64_t append(Entry entry, std::string_view first, std::string_view second,
                std::string_view third, std::string_view bytes) {
  entry.first = static_cast<uint32_t>(first.size());
  entry.second = static_cast<uint32_t>(second.size());
  entry.third = static_cast<uint32_t>(third.size());
  entry.old_bytes = static_cast<uint32_t>(bytes.size());
  const uint64_t number = end_of_journal();
  const std::string_view parts[] = {
      {reinterpret_cast<const char*>(&entry), sizeof entry}, first, second, third, bytes};
  iovec vector[std::size(parts)];
  size_t length = 0;
  for (size_t i = 0; i < std::size(parts); ++i) {
    vector[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
    length += parts[i].size();
  }
  if (raw(SYS_writev, state()->journal, vector, std::size(parts)) != static_cast<long>(length))
    fail();
  return number;
}

std::string read_old(int descriptor, uint64_t offset, uint64_t length) {
  std::string bytes(length, '\0');
  // The server's own descriptor may be open for writing only.
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const long file = raw(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail();
  for (uint64_t done = 0; done < length;) {
    const long count = raw(SYS_pread64, file, bytes.data() + done,
                           std::min<uint64_t>(length - done, kLargestRead), offset + done);
    if (count <= 0) break;
    done += static_cast<uint64_t>(count);
  }
  raw(SYS_close, file);
  return bytes;
}

uint64_t inode_of(const std::string& path) {
  struct stat found {};
  return raw(SYS_newfstatat, AT_FDCWD, path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0
             ? found.st_ino
             : 0;
}

std::string directory_of(std::string_view path) {
  return std::string(path.substr(0, path.rfind('/')));
}

// Another name for the file, which outlives the one it has. Empty when there is no file.
std::string keep(Journal& own, std::string_view path) {
  const std::string kept =
      state()->place + "/keep/" + std::to_string(getpid()) + "-" + std::to_string(own.next_kept++);
  const std::string from(path);
  const long linked = raw(SYS_linkat, AT_FDCWD, from.c_str(), AT_FDCWD, kept.c_str(), 0);
  if (linked == -ENOENT) return {};
  if (linked != 0) fail();
  return kept;
}

}  // namespace

Change::Change(int descriptor, const struct stat& found, uint64_t offset, uint64_t length) {
  if (!is_kept()) return;
  const auto size = static_cast<uint64_t>(found.st_size);
  const uint64_t there = offset < size ? std::min(length, size - offset) : 0;
  std::string old = there > 0 ? read_old(descriptor, offset, there) : std::string();
  if (old.find_first_not_of('\0') == std::string::npos) old.clear();
  Entry entry{.type = EntryType::kBytes, .inode = found.st_ino, .offset = offset};
  entry.length = length;
  entry.old_size = size;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  inode_ = found.st_ino;
  number_ = append(entry, {}, {}, {}, old);
  own.under_way.push_back({inode_, number_});
}

Change::~Change() {
  if (inode_ == 0) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  std::erase_if(own.under_way, [this](const UnderWay& each) { return each.number == number_; });
}

Syncing::Syncing(const struct stat& found) : found_(found) {
  if (!is_kept()) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  end_ = end_of_journal();
  for (const auto& each : own.under_way) {
    if (each.inode != found.st_ino) continue;
    if (count_ == std::size(numbers_)) fail();
    numbers_[count_++] = each.number;
  }
}

std::string_view Syncing::not_returned() const {
  return {reinterpret_cast<const char*>(numbers_), count_ * sizeof numbers_[0]};
}

void Syncing::done() const {
  if (!is_kept()) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  append({.type = EntryType::kSync, .inode = found_.st_ino, .offset = end_}, {}, {}, {},
         not_returned());
  std::erase_if(own.kept, [this](const KeptFile& file) {
    if (file.directory != found_.st_ino || file.number >= end_) return false;
    raw(SYS_unlinkat, AT_FDCWD, file.path.c_str(), 0);
    return true;
  });
}

void note_created(std::string_view path) {
  if (!is_kept()) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  Entry entry{.type = EntryType::kCreate, .inode = inode_of(directory_of(path))};
  entry.offset = inode_of(std::string(path));
  append(entry, path, {}, {}, {});
}

void note_unlink(std::string_view path) {
  if (!is_kept()) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  const std::string kept = keep(own, path);
  if (kept.empty()) return;
  const uint64_t directory = inode_of(directory_of(path));
  const uint64_t number =
      append({.type = EntryType::kUnlink, .inode = directory}, path, kept, {}, {});
  own.kept.push_back({directory, number, kept});
}

void note_rename(std::string_view from, std::string_view to) {
  if (!is_kept()) return;
  auto& own = journal();
  std::lock_guard lock(own.mutex);
  const std::string kept = keep(own, to);
  const uint64_t directory = inode_of(directory_of(to));
  const uint64_t number =
      append({.type = EntryType::kRename, .inode = directory}, from, to, kept, {});
  if (!kept.empty()) own.kept.push_back({directory, number, kept});
}

}  // namespace kyanite::faults
