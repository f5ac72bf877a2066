#include "os/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "os/failed.h"
#include "os/fault.h"

namespace kyanite::os {

namespace {
std::string parent_of(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  if (slash == std::string::npos) return path.starts_with('/') ? "/" : ".";
  const size_t last = path.find_last_not_of('/', slash);
  return last == std::string::npos ? "/" : path.substr(0, last + 1);
}
}  // namespace

void keep_private() { umask(0077); }

Result<void> make_directories(const std::string& path) {
  if (auto fault = fault_before(SystemCall::kMakeDirectory, path); fault.error != 0) {
    return failed("make directory", path, fault.error);
  }
  if (mkdir(path.c_str(), 0755) == 0) return sync_directory(parent_of(path));
  if (errno == EEXIST) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) return failed("stat", path, errno);
    if (!S_ISDIR(found.st_mode)) return failed("make directory", path, ENOTDIR);
    return {};
  }
  const std::string parent = parent_of(path);
  if (errno != ENOENT || parent == path) return failed("make directory", path, errno);
  if (auto made = make_directories(parent); !made) return made;
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return failed("make directory", path, errno);
  }
  return sync_directory(parent);
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  if (auto fault = fault_before(SystemCall::kList, path); fault.error != 0) {
    return failed("list", path, fault.error);
  }
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return failed("list", path, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(directory)) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int code = errno;
  closedir(directory);
  if (code != 0) return failed("list", path, code);
  return names;
}

Result<void> sync_directory(const std::string& path) {
  if (auto fault = fault_before(SystemCall::kSync, path); fault.error != 0) {
    return failed("sync", path, fault.error);
  }
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed("open", path, errno);
  const int code = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  if (code != 0) return failed("sync", path, code);
  return {};
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (auto fault = fault_before(SystemCall::kRename, from); fault.error != 0) {
    return failed("rename", from, fault.error);
  }
  if (rename(from.c_str(), to.c_str()) != 0) return failed("rename", from, errno);
  return {};
}

Result<void> remove_file(const std::string& path) {
  if (auto fault = fault_before(SystemCall::kRemove, path); fault.error != 0) {
    return failed("remove", path, fault.error);
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return failed("remove", path, errno);
  return {};
}

Result<void> link_file(const std::string& from, const std::string& to) {
  if (auto fault = fault_before(SystemCall::kRename, from); fault.error != 0) {
    return failed("link", from, fault.error);
  }
  if (link(from.c_str(), to.c_str()) != 0) return failed("link", from, errno);
  return {};
}

Result<void> remove_tree(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return {};
    return failed("stat", path, errno);
  }
  if (!S_ISDIR(found.st_mode)) return remove_file(path);
  auto names = list_directory(path);
  if (!names) return Failure{names.error()};
  for (const auto& name : *names) {
    if (auto removed = remove_tree(path + "/" + name); !removed) return removed;
  }
  if (rmdir(path.c_str()) != 0 && errno != ENOENT) return failed("remove", path, errno);
  return {};
}

Result<uint64_t> free_bytes(const std::string& path) {
  if (auto fault = fault_before(SystemCall::kStatus, path); fault.error != 0) {
    return failed("stat", path, fault.error);
  }
  struct statvfs found {};
  if (statvfs(path.c_str(), &found) != 0) return failed("stat", path, errno);
  return static_cast<uint64_t>(found.f_bavail) * found.f_frsize;
}

Result<std::string> read_text(const std::string& path) {
  auto file = File::open(path, File::Mode::kRead);
  if (!file) return Failure{file.error()};
  auto status = (*file)->status();
  if (!status) return Failure{status.error()};
  std::string text(status->size, '\0');
  auto count = (*file)->read_at(text.data(), text.size(), 0);
  if (!count) return Failure{count.error()};
  text.resize(*count);
  return text;
}

namespace {
// The text goes into the file, which then takes the name `path`.
Result<void> replace_file(const File& file, const std::string& directory, const std::string& path,
                          std::string_view text) {
  if (auto cut = file.truncate(0); !cut) return cut;
  if (auto written = file.write_at(text, 0); !written) return written;
  if (auto synced = file.sync_data(); !synced) return synced;
  if (auto renamed = rename_file(file.path(), path); !renamed) return renamed;
  return sync_directory(directory);
}
}  // namespace

Result<void> write_text(const std::string& directory, const std::string& name,
                        std::string_view text) {
  const std::string path = directory + "/" + name;
  auto file = File::open(path + ".new", File::Mode::kCreateOrOpen);
  if (!file) return Failure{file.error()};
  return replace_file(**file, directory, path, text);
}

Result<void> write_secret(const std::string& directory, const std::string& name,
                          std::string_view text) {
  const std::string path = directory + "/" + name;
  const std::string fresh = path + ".new";
  // One that a crash left could have any mode.
  if (auto removed = remove_file(fresh); !removed) return removed;
  if (auto fault = fault_before(SystemCall::kOpen, fresh); fault.error != 0)
    return failed("open", fresh, fault.error);
  const int descriptor = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return failed("open", fresh, errno);
  return replace_file(File(descriptor, fresh), directory, path, text);
}

Result<void> give_to_owner_of(const std::string& directory, const std::string& name) {
  if (geteuid() != 0) return {};
  struct stat owner = {};
  if (stat(directory.c_str(), &owner) != 0) return failed("stat", directory, errno);
  const std::string path = directory + "/" + name;
  if (lchown(path.c_str(), owner.st_uid, owner.st_gid) != 0) return failed("chown", path, errno);
  return {};
}

}  // namespace kyanite::os
