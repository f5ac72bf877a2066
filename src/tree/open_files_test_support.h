// A file in a directory of a share, opened as an SMB client would.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>

#include "tree/open_files.h"

namespace kyanite::tree {

using concurrency::AccessSet;
using concurrency::FileOperation;
using concurrency::kDeleteAccess;
using concurrency::kFullAccess;
using concurrency::kNoAccess;
using concurrency::kReadAccess;
using concurrency::kWriteAccess;

inline constexpr store::SpaceId kShare = 7;
inline constexpr uint64_t kDirectory = 100;
inline constexpr uint64_t kFile = 101;
inline constexpr FileKey kFileKey{kShare, kFile};
inline constexpr FileKey kDirectoryKey{kShare, kDirectory};
inline constexpr FileKey kRootKey{kShare, 0};

inline AccessSet set(std::string_view letters) {
  AccessSet result;
  for (const char letter : letters) {
    if (letter == 'R') result = result | kReadAccess;
    if (letter == 'W') result = result | kWriteAccess;
    if (letter == 'D') result = result | kDeleteAccess;
  }
  return result;
}

// As an SMB client opens the file "directory/file".
inline FileOpen file_open(AccessSet access, AccessSet share) {
  FileOpen request;
  request.file = kFileKey;
  request.mode = {access, share};
  request.ancestors = {0, kDirectory};
  request.path = "directory/file";
  request.session = 1;
  request.client = "127.0.0.1:50000";
  return request;
}

inline FileOpen directory_open(AccessSet access, AccessSet share) {
  FileOpen request = file_open(access, share);
  request.file = kDirectoryKey;
  request.ancestors = {0};
  request.path = "directory";
  return request;
}

inline HandleId must_open(OpenFiles& table, FileOpen request) {
  auto opened = RunLoop::run(table.open(std::move(request)));
  EXPECT_TRUE(opened.ok());
  return opened.ok() ? *opened : 0;
}

// Why a REST operation is refused; nothing when the operation goes on.
inline std::optional<Refusal> verdict(OpenFiles& table, FileOperation operation,
                                      FileKey file = kFileKey) {
  auto admission = table.admit(file, operation);
  if (admission) return std::nullopt;
  return std::get<Refusal>(admission.error().cause);
}

}  // namespace kyanite::tree
