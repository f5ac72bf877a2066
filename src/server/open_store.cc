#include "server/open_store.h"

#include "os/descriptors.h"
#include "store/memory.h"

namespace kyanite::server {

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
