// Whether whoever is held to access control may delete a directory with everything in it: that
// takes all rights on every directory inside, and the sticky bit is heeded.
//
// A large tree is looked through by several requests (paginated=true), each of which goes on where
// the last one stopped. What it hands out to go on with is authenticated: nobody skips a part.
#pragma once

#include <string>

#include "base/task.h"
#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

struct TreeCheck {
  uint64_t directory = 0;  // The id of the one that was looked through; 0: there was no need.
  std::string next;        // What to go on with; "" when all was seen.
};

// 403 where something must not be deleted.
Task<wire::Result<TreeCheck>> check_tree(service::Call& call);

// For the step that takes the directory away with everything in it, as it is found then.
wire::Result<void> check_taken(const service::Call& call, const TreeCheck& check,
                               const blob::Blob& directory);

}  // namespace kyanite::datalake
