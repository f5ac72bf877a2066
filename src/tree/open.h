// Opening and closing files and directories, as clients do who keep what they open.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "concurrency/share_mode.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/opened.h"
#include "tree/tree.h"

namespace kyanite::tree {

// What is to happen where something is, and where nothing is.
enum class Disposition : uint8_t {
  kSupersede,    // Replaces, or makes.
  kOpen,         // Opens, or fails.
  kCreate,       // Fails, or makes.
  kOpenIf,       // Opens, or makes.
  kOverwrite,    // Empties, or fails.
  kOverwriteIf,  // Empties, or makes.
};
enum class OpenAction : uint8_t { kSuperseded, kOpened, kCreated, kOverwritten };

struct Opening {
  Path path;
  Disposition disposition = Disposition::kOpen;
  Kind kind = Kind::kEither;  // A new entry is a directory only for kDirectory.
  concurrency::AccessSet share;
  bool delete_on_close = false;
  Attributes attributes = 0;  // Of what is made or emptied.
  // Of what is made: its security descriptor in binary form. What that lacks is inherited.
  std::optional<std::string_view> descriptor = {};
  uint64_t session = 0;
  std::string client;
  // What it means to those who cache the file, and what it wants to cache itself.
  concurrency::OpenReach reach = concurrency::OpenReach::kContent;
  CachingWanted caching = {};
  // Called before it waits for other clients who cache the file; false: it must not. From then on
  // OpenFiles::cancel_open() ends the waiting under this ticket.
  std::function<bool(FileKey file)> may_wait = {};
  uint64_t ticket = 0;

  // Grants access to what was found in a directory, or to something new (null) there, or refuses.
  // The root is in itself. May be called again.
  using Grant =
      std::function<Task<Result<concurrency::AccessSet>>(const Entry* entry, const Entry& parent)>;
  Grant grant;
};

struct OpenResult {
  Opened opened;
  OpenAction action = OpenAction::kOpened;
  Entry entry;  // With all that was written, stored or not.
};

// In this order: what is on the way, what is there, the mark for deletion, the access, share modes,
// the lease of REST, and only then is something made or emptied.
//
// kNotFound, kNoParent, kExists, kIsDirectory, kNotDirectory; kReadOnly for what must not be
// emptied or deleted; kShownOnly for anything but reading what a snapshot shows; the refusals of
// OpenFiles::open; what `grant` says.
Task<Result<OpenResult>> open(store::Occasion& occasion, const Tree& tree, const Opening& order);

// Ends the handle. What was written through it is durable then, and a file that waited to be
// deleted is gone with its last handle. What it returns is the state in the end, if it is asked for
// and there is any.
Task<Result<std::optional<Entry>>> close(store::Occasion& occasion, Opened& opened, bool asked);

// The same for a handle that its client never learns of: it deletes nothing on its own account.
Task<void> withdraw(store::Occasion& occasion, const Tree& tree, HandleId handle);
// The same for a handle that somebody else takes from its client.
Task<void> close_for_another(store::Occasion& occasion, const Tree& tree, const Handle& handle);

// Removes the file of a handle that was the last one and is closed already. False: there was
// nothing to remove, or it stays.
Task<Result<bool>> remove_closed(store::Occasion& occasion, Opened& opened, const Handle& last);

// Marks the file for deletion at its last close, or withdraws the mark. kReadOnly, kNotEmpty,
// kIsRoot.
Task<Result<void>> set_delete_pending(store::Occasion& occasion, Opened& opened, bool pending,
                                      bool ignores_read_only);

// Moves what is open to another path. Directories are never replaced. kExists where something is
// and `replaces` is not set; kAccessDenied where what is there is open, read-only or a directory.
Task<Result<void>> rename_opened(store::Occasion& occasion, Opened& opened, const Path& to,
                                 bool replaces);

}  // namespace kyanite::tree
