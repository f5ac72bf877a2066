#include "upkeep/migrate.h"

#include "engine/engine.h"
#include "engine/location.h"

namespace kyanite::upkeep {

Result<Migration, std::string> migrate(const std::string& location, bool dry_run) {
  uint64_t format = 0;
  {
    auto found = engine::visit_location(location);
    if (!found) return Failure{found.error()};
    if (found->lock == nullptr) {
      return Failure{
          "A server uses the directory " + location +
          ", so it has the newest format that this server knows: nothing is to be done."};
    }
    format = found->format;
  }
  const std::string newest = std::to_string(engine::newest_format());
  std::string text = "The directory " + location + " has format " + std::to_string(format) + ". ";
  if (format == engine::newest_format())
    return Migration{text + "That is the newest that this version knows: nothing is to be done."};
  const std::string change = "format " + newest +
                             ": the directory gets a name of its own and a count of its starts, "
                             "so that parts of different directories or times are recognised. "
                             "Earlier versions of Kyanite refuse it from then on";
  if (dry_run) return Migration{text + "It would be brought to " + change + "."};
  engine::Options options;
  options.location = location;
  options.sweep_interval = std::chrono::seconds(0);
  auto opened = engine::Engine::open(std::move(options));
  if (!opened) return Failure{opened.error()};
  return Migration{text + "It was brought to " + change + "."};
}

}  // namespace kyanite::upkeep
