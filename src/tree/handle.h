// What is open, as the open-file table (tree/open_files.h) has it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "concurrency/caching.h"
#include "concurrency/share_mode.h"
#include "tree/file_key.h"
#include "tree/grants.h"
#include "tree/records.h"
#include "tree/watchers.h"

namespace kyanite::tree {

// An open as an SMB client asks for it and as List Handles shows it.
struct FileOpen {
  FileKey file;
  concurrency::Open mode;
  std::vector<uint64_t> ancestors;  // Ids from the root to the parent; empty for the root itself.
  std::string path;                 // From the root, with the case of the stored names.
  uint64_t session = 0;
  std::string client;  // address and port
  Time opened;
  bool delete_on_close = false;  // The file is marked for deletion when this handle closes.
  // Whoever opens looks at the file once more and may withdraw, or says decide(): until then others
  // are not refused because of it but wait.
  bool undecided = false;
  // What others must let it do at the moment of opening, besides its access: it empties the file.
  concurrency::AccessSet besides;
  // What it means to those who cache the file, and what it wants to cache itself.
  concurrency::OpenReach reach = concurrency::OpenReach::kContent;
  bool replaces = false;  // The content.
  CachingWanted caching = {};
  // By which OpenFiles::cancel_open() knows it; 0: nobody will ask.
  uint64_t ticket = 0;
  // Called before it waits for other clients, with nothing locked. False: it must not.
  std::function<bool()> may_wait = {};
};

struct Handle : FileOpen {
  HandleId id = 0;
  Time reconnected;    // When its client came back to it; unset: it never was away.
  uint64_t moves = 0;  // How often it was renamed since.
  size_t closing = 0;  // So many have begun to: see OpenFiles::begin_closing().
  bool lost = false;   // See OpenFiles::note_lost().
  // What it watches, which ends with it.
  std::optional<Watchers::WatchId> watch = {};

  EntryId parent() const { return ancestors.empty() ? kRootId : ancestors.back(); }
};

}  // namespace kyanite::tree
