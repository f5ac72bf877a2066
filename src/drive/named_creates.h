// CREATEs by the names that clients give them, so that one that comes again is known.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "smb/fields.h"
#include "tree/grants.h"

namespace kyanite::drive {

// CREATEs that clients have given a name to, while they are served and while what they opened is
// open. Thread-safe.
class NamedCreates {
 public:
  using Name = std::pair<smb::Guid, smb::Guid>;  // Of the client, of the request.

  // Takes the name for a request; what has it already: a handle, or 0 for a request that is being
  // served.
  std::optional<tree::HandleId> begin(const Name& name);
  // What the request opened; 0: nothing, and the name is free again.
  void end(const Name& name, tree::HandleId handle);

 private:
  Mutex mutex_;
  std::map<Name, tree::HandleId> creates_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::drive
