// What List Handles and Force Close Handles have in common.
#pragma once

#include <string_view>

#include "base/task.h"
#include "file/entry.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::file {

// Whose handles a request asks for.
struct HandlesTarget {
  Located located;
  bool recursive = false;  // x-ms-recursive: also those of everything below the directory.

  tree::FileKey key() const { return located.key(); }
  // Nobody holds a snapshot open against others.
  bool has_none() const { return located.tree.shown.has_value(); }
};

// 404 ResourceNotFound, 400 for a recursion into a file.
Task<wire::Result<HandlesTarget>> find_handles_target(service::Call& call);

}  // namespace kyanite::file
