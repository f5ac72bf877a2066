// The store that the server serves from.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "server/options.h"
#include "store/store.h"

namespace kyanite::server {

struct OpenStore {
  std::unique_ptr<store::Store> store;
  engine::Engine* engine = nullptr;  // Null when nothing is kept.
};

// The error is one sentence for the person who started the server.
Result<OpenStore, std::string> open_store(const Options& options);

}  // namespace kyanite::server
