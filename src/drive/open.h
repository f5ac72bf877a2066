// A file or directory that a session has open, as SMB knows it. What all protocols know of it is in
// the open-file table (tree/open_files.h).
#pragma once

#include <cstdint>
#include <memory>

#include "base/task.h"
#include "smb/create.h"
#include "tree/open_files.h"

namespace kyanite::drive {

struct TreeConnect;
class Connection;
class Session;

struct Open {
  smb::FileId id;
  std::shared_ptr<TreeConnect> tree;
  tree::HandleId handle = 0;
};

// Why opens end that nobody closed.
enum class OpenEnd {
  kTreeDisconnected,
  kLoggedOff,
  kConnectionLost,  // Durable ones wait for their client.
};

// Ends one of them, which is in no session any more.
Task<void> end_open(Connection& connection, std::shared_ptr<Open> open, OpenEnd why);

}  // namespace kyanite::drive
