// Opens what is in a location, if it belongs together.
//
// Bytes that no record lists are dead and are reclaimed, so trusting the wrong records destroys
// data. Hence a location whose records are missing, older than the rest, of another location, or
// lack commits that were acknowledged is refused with a sentence. An operator who has nothing
// better puts a file named ACCEPT_LOSS into the directory: the next start, and only that, takes
// what is there for all there is. docs/decisions/belonging-together.md
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/extents.h"
#include "engine/identity.h"
#include "engine/location.h"
#include "engine/records.h"
#include "engine/room.h"

namespace kyanite::engine {

struct OpenParts {
  Location location;
  std::unique_ptr<Room> room;
  std::unique_ptr<Records> records;
  std::unique_ptr<Extents> extents;
  Standing standing;
};

// The error is one or more sentences for the person who started the server.
Result<OpenParts, std::string> open_parts(const Options& options);

}  // namespace kyanite::engine
