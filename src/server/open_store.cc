#include "server/open_store.h"

#include "engine/location.h"
#include "os/descriptors.h"
#include "store/memory.h"

namespace kyanite::server {

Result<void, std::string> settle_location(Options& options) {
  if (options.in_memory) return {};
  if (options.personality != Personality::kKyanite && engine::is_shared(options.location)) {
    const std::string within = options.location + "/kyanite";
    options.doubtful.push_back(options.location + " has other things in it: data is kept in " +
                               within);
    options.location = within;
  }
  auto made = engine::open_location(options.location);
  if (!made) return Failure{made.error()};
  return {};
}

Result<OpenStore, std::string> open_store(const Options& options) {
  if (options.in_memory) return OpenStore{std::make_unique<store::MemoryStore>(), nullptr};
  engine::Options engine_options;
  engine_options.location = options.location;
  engine_options.descriptors = engine::reserved_descriptors(os::raise_descriptor_limit());
  auto engine = engine::Engine::open(std::move(engine_options));
  if (!engine) return Failure{engine.error()};
  engine::Engine* view = engine->get();
  return OpenStore{std::move(*engine), view};
}

}  // namespace kyanite::server
