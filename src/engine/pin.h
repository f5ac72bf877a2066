// A location as it is at one instant, kept as it is while another process copies or checks it: the
// directory `pinned` in the location has what a location has but for its extents, and no byte that
// its records list is reclaimed. Commits go on; what they add is not in it.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/extents.h"
#include "engine/location.h"
#include "engine/records.h"
#include "store/store.h"

namespace kyanite::engine {

// The file in it that names the extents that were being written, a line each: these change.
inline constexpr const char* kOpenExtents = "OPEN";

class Pin {
 public:
  // `hold` was taken before.
  static Result<std::unique_ptr<Pin>, std::string> make(const Location& location, Records& records,
                                                        Extents& extents, store::Hold hold);
  // Removes what a process that was killed has left.
  static os::Result<void> tidy(const Location& location);
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  const std::string& directory() const { return directory_; }

 private:
  Pin(std::string directory, store::Hold hold)
      : directory_(std::move(directory)), hold_(std::move(hold)) {}
  Result<void, std::string> fill(const Location& location, Records& records, Extents& extents);

  const std::string directory_;
  const store::Hold hold_;
};

}  // namespace kyanite::engine
