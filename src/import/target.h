// What the parts of the import share: where it goes, what was counted, what went wrong.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "content/content.h"
#include "import/azurite.h"
#include "import/loki.h"
#include "os/file.h"
#include "store/fields.h"
#include "store/store.h"

namespace kyanite::import {

using Outcome = Result<void, std::string>;

template <class T>
store::RecordPtr record_of(const T& value) {
  return std::make_shared<const store::SharedRecord>(store::Record{store::encode(value), {}});
}

// A part of one of Azurite's extents.
struct Chunk {
  std::string extent;
  uint64_t offset = 0;
  uint64_t count = 0;
  auto operator<=>(const Chunk&) const = default;
};
Chunk chunk_of(const Document& document);  // its "persistency"

// Azurite's extents: files in one folder.
class Chunks {
 public:
  static Result<Chunks, std::string> open(const std::string& folder, const std::string& database);
  // The next bytes of a chunk from `at` on, at most kChunkBytes.
  Result<Buffer, std::string> read(const Chunk& chunk, uint64_t at);
  // All of a chunk.
  Outcome read_all(const Chunk& chunk, std::string& out);

 private:
  std::string folder_;
  std::map<std::string, std::string> paths_;
  std::string open_;
  std::shared_ptr<const os::File> file_;
};

struct Target {
  store::Store& store;
  Time now;
  Imported counts;

  Outcome commit(store::Commit commit);
};

Outcome import_blobs(Target& target, const Database& database, Chunks& chunks);
Outcome import_queues(Target& target, const Database& database, Chunks& chunks);
Outcome import_tables(Target& target, const Database& database);

// Stored access policies, in the form of all services.
template <class Policy>
std::vector<Policy> policies_of(const Document& document, std::string_view name) {
  std::vector<Policy> policies;
  for (const auto& each : document.list(name)) {
    const auto rules = each.object("accessPolicy");
    Policy policy;
    policy.id = each.text("id");
    if (rules.has("start")) policy.start = rules.date("start");
    if (rules.has("expiry")) policy.expiry = rules.date("expiry");
    policy.permission = rules.text("permission");
    policies.push_back(std::move(policy));
  }
  return policies;
}

// The properties of a service, which are the same in all of them.
Outcome import_properties(Target& target, const Database& database, std::string_view service);

}  // namespace kyanite::import
