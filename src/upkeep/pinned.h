// A data directory that stays as it is while a command copies or checks it: that of a stopped
// server, which cannot start meanwhile, or of a running one, which keeps an instant of it
// (engine/pin.h) as long as the connection to it lasts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/location.h"
#include "os/local_socket.h"

namespace kyanite::upkeep {

// What a running server listens at, in its data directory, and what it is asked.
inline constexpr const char* kControlName = "control";
inline constexpr const char* kPinRequest = "pin";
// The answers: this and a directory, or any other text, which says why not.
inline constexpr const char* kPinned = "pinned ";

class Pinned {
 public:
  // The error is a sentence.
  static Result<Pinned, std::string> make(const std::string& path);

  // Whether a server runs on it.
  bool served() const { return connection_.has_value(); }
  // Nothing has changed since it was made, as far as it could be known.
  bool lasts() const { return !connection_ || connection_->is_open(); }

  const std::string& location() const { return location_.path; }
  uint64_t format() const { return location_.format; }
  // Where FORMAT, IDENTITY, LOGS and the records are.
  const std::string& root() const { return root_; }
  std::string records() const { return root_ + "/records"; }
  std::string extents() const { return location_.extents(); }

 private:
  Pinned(engine::Location location, std::string root, std::optional<os::LocalSocket> connection)
      : location_(std::move(location)),
        root_(std::move(root)),
        connection_(std::move(connection)) {}

  engine::Location location_;
  std::string root_;
  std::optional<os::LocalSocket> connection_;
};

}  // namespace kyanite::upkeep
