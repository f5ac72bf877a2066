// A file or directory that a session has open, as SMB knows it. What all protocols know of it is in
// the open-file table (tree/open_files.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "drive/channel_order.h"
#include "drive/lock_sequences.h"
#include "drive/named_creates.h"
#include "smb/create.h"
#include "smb/wildcard.h"
#include "tree/directory_cursor.h"
#include "tree/open_files.h"
#include "tree/opened.h"

namespace kyanite::drive {

struct TreeConnect;
class CacheHolder;
class Connection;
class Session;
struct Drive;

// How far a client has read a directory.
struct Listing {
  std::optional<smb::Wildcard> pattern;  // Nothing until the first question.
  std::string prefix;                    // With which all names begin that it can match, folded.
  size_t dots = 0;                       // How many of "." and ".." are told.
  bool told_any = false;
  tree::DirectoryCursor cursor;

  void restart() {
    dots = 0;
    cursor.restart();
  }
};

// Of an open that outlives its connection: see durable.h.
struct Durable {
  int version = 0;  // 0: it does not.
  int64_t seconds = 0;
  smb::Guid create_guid{};
  std::string account;
};

struct Open {
  smb::FileId id;
  std::shared_ptr<TreeConnect> tree;
  tree::Opened file;
  uint32_t access = 0;       // granted
  uint32_t most_access = 0;  // What could have been granted.
  uint32_t options = 0;
  uint64_t allocation = 0;  // What it asked to be set aside.
  uint64_t position = 0;    // Kept for clients, used by nobody.
  uint32_t mode = 0;        // As the client set it. Only writing through means something.
  Listing listing;
  std::shared_ptr<CacheHolder> holder;
  LockSequences sequences;
  ChannelOrder order;
  bool used = false;   // By a request that named it: the client has seen the reply to its CREATE.
  size_t at_work = 0;  // Requests that have found it and are served yet, all on one loop.
  Durable durable;
  std::optional<NamedCreates::Name> named;                // What the client called its request.
  std::optional<smb::Guid> program;                       // What has it open, if it has a name.
  smb::CreateAction action = smb::CreateAction::kOpened;  // What the client was told.
  std::optional<tree::Watchers::WatchId> watch;
  uint32_t watch_bytes = 0;  // The most that it is told at once.

  bool has(uint32_t rights) const { return (access & rights) == rights; }
  bool has_any(uint32_t rights) const { return (access & rights) != 0; }
};

// Why opens end that nobody closed.
enum class OpenEnd {
  kTreeDisconnected,
  kLoggedOff,
  kConnectionLost,  // Durable ones wait for their client, as they do after a logoff.
};

// What an open keeps besides its handle is given back: it is closed, or about to be.
void release(Drive& drive, Open& open);

// Ends one of them, which is in no session any more.
Task<void> end_open(Connection& connection, std::shared_ptr<Open> open, OpenEnd why);

}  // namespace kyanite::drive
