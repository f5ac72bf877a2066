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

// Makes the directory in which data is kept, so that a log may be in it as well. Called by one of
// Azurite's names the location may be a directory with other things in it, as Azurite's may: data
// is then in a folder there, of which a sentence is added to the notices of the options. The error
// is one sentence.
Result<void, std::string> settle_location(Options& options);

// The error is one sentence for the person who started the server.
Result<OpenStore, std::string> open_store(const Options& options);

}  // namespace kyanite::server
