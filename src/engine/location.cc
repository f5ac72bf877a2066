#include "engine/location.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/bytes.h"
#include "engine/new_location.h"
#include "os/directory.h"

namespace kyanite::engine {

namespace {

constexpr std::string_view kMarkerName = "FORMAT";
constexpr std::string_view kMarkerStart = "kyanite ";
constexpr uint64_t kFormat = kIdentityFormat;

std::string unusable(const std::string& path, const os::Error& error) {
  return "Cannot use the directory " + path + " (" + error.what +
         "): make it writable for this user (number " + std::to_string(geteuid()) +
         ") or choose another location.";
}

bool is_azurites(const std::string& name) {
  return name.starts_with("__azurite_db_") && name.ends_with("__.json");
}

// What a directory of ours has, whole or not.
bool is_ours(const std::string& name) {
  constexpr std::string_view kOurs[] = {kMarkerName, "IDENTITY", "extents",
                                        "records",   kRestoring, kImporting};
  return std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs);
}

// A first start may have been cut short after making these.
bool is_of_a_start(const std::string& name) {
  return name == "lock" || name == "FORMAT.new" || name == "lost+found";
}

// Whether the marker is there; an error when the directory is somebody else's.
Result<bool, std::string> is_marked(const std::string& path) {
  auto names = os::list_directory(path);
  if (!names) return Failure{unusable(path, names.error())};
  bool foreign = false;
  bool marked = false;
  for (const auto& name : *names) {
    if (name == kMarkerName) marked = true;
    foreign |= !is_of_a_start(name);
  }
  if (!foreign && !marked) return false;
  if (std::find(names->begin(), names->end(), kRestoring) != names->end()) {
    return Failure{"The directory " + path +
                   " is a backup that was not restored to its end: run kyanite restore again."};
  }
  if (std::find(names->begin(), names->end(), kImporting) != names->end()) {
    return Failure{"The directory " + path +
                   " was not brought over to its end: run kyanite import again."};
  }
  if (marked) return true;
  if (std::any_of(names->begin(), names->end(), is_azurites)) {
    return Failure{"The directory " + path +
                   " is a data directory of Azurite's: bring it over with kyanite import azurite " +
                   path + " --location NEW_DIRECTORY, and start with that."};
  }
  return Failure{"The directory " + path +
                 " is not empty and was not made by Kyanite: choose an empty or new directory."};
}

Result<uint64_t, std::string> read_format(const std::string& path) {
  auto text = os::read_text(path + "/" + std::string(kMarkerName));
  if (!text && text.error().code == ENOENT) {
    return Failure{"The directory " + path + " was not made by Kyanite: it has no file FORMAT."};
  }
  if (!text) return Failure{unusable(path, text.error())};
  std::optional<uint64_t> format;
  if (text->starts_with(kMarkerStart) && text->ends_with('\n')) {
    const std::string_view all(*text);
    format = parse_uint(all.substr(kMarkerStart.size(), all.size() - kMarkerStart.size() - 1));
  }
  if (!format || *format == 0) {
    return Failure{"The file FORMAT in " + path +
                   " is damaged: restore it from a backup or choose another directory."};
  }
  if (*format > kFormat) {
    return Failure{"The directory " + path + " has format " + std::to_string(*format) +
                   ", made by a newer Kyanite: use that version, this one knows formats up to " +
                   std::to_string(kFormat) + "."};
  }
  return *format;
}

}  // namespace

Result<void, std::string> raise_format(Location& location) {
  if (location.format == kFormat) return {};
  const std::string marker = std::string(kMarkerStart) + std::to_string(kFormat) + "\n";
  auto written = os::write_text(location.path, std::string(kMarkerName), marker);
  if (!written) return Failure{unusable(location.path, written.error())};
  location.format = kFormat;
  return {};
}

bool is_shared(const std::string& path) {
  const auto names = os::list_directory(path);
  if (!names) return false;
  const auto any = [&](bool (*is)(const std::string&)) {
    return std::any_of(names->begin(), names->end(), is);
  };
  return !any(is_ours) && !any(is_azurites) &&
         !std::all_of(names->begin(), names->end(), is_of_a_start);
}

uint64_t newest_format() { return kFormat; }

Result<Location, std::string> visit_location(const std::string& path) {
  auto format = read_format(path);
  if (!format) return Failure{format.error()};
  Location location{.path = path, .format = *format, .lock = nullptr};
  auto lock = os::File::open(path + "/lock", os::File::Mode::kRead);
  if (!lock) return Failure{unusable(path, lock.error())};
  auto locked = (*lock)->try_lock();
  if (!locked) return Failure{unusable(path, locked.error())};
  if (*locked) location.lock = std::move(*lock);
  return location;
}

Result<Location, std::string> open_location(const std::string& path) {
  if (auto made = os::make_directories(path); !made) return Failure{unusable(path, made.error())};
  auto marked = is_marked(path);
  if (!marked) return Failure{marked.error()};

  auto lock = os::File::open(path + "/lock", os::File::Mode::kCreateOrOpen);
  if (!lock) return Failure{unusable(path, lock.error())};
  auto locked = (*lock)->try_lock();
  if (!locked) return Failure{unusable(path, locked.error())};
  if (!*locked) {
    return Failure{"Another Kyanite process uses the directory " + path +
                   ": stop it or choose another location."};
  }

  // Asked again under the lock: another process may have been making it.
  marked = is_marked(path);
  if (!marked) return Failure{marked.error()};
  Location location{.path = path, .lock = std::move(*lock)};
  if (*marked) {
    auto format = read_format(path);
    if (!format) return Failure{format.error()};
    location.format = *format;
  } else if (auto written = raise_format(location); !written) {
    // Before the folders, so that a start cut short between them is not taken for a foreign
    // directory.
    return Failure{written.error()};
  }
  return location;
}

}  // namespace kyanite::engine
