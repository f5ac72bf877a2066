#include "import/azurite.h"

#include <algorithm>
#include <cerrno>

#include "account/properties.h"
#include "base/executor.h"
#include "engine/engine.h"
#include "import/loki.h"
#include "import/target.h"
#include "lifetime/directory.h"
#include "os/directory.h"

namespace kyanite::import {

Chunk chunk_of(const Document& document) {
  const auto place = document.object("persistency");
  return {place.text("id"), static_cast<uint64_t>(place.number("offset").value_or(0)),
          static_cast<uint64_t>(place.number("count").value_or(0))};
}

Result<Chunks, std::string> Chunks::open(const std::string& folder, const std::string& database) {
  Chunks chunks;
  chunks.folder_ = folder;
  auto extents = Database::load(database);
  if (!extents) return Failure{extents.error()};
  extents->each("$EXTENTS_COLLECTION$", [&](const Document& extent) {
    chunks.paths_[extent.text("id")] = extent.text("path");
    return true;
  });
  return chunks;
}

Result<Buffer, std::string> Chunks::read(const Chunk& chunk, uint64_t at) {
  if (open_ != chunk.extent || file_ == nullptr) {
    const auto known = paths_.find(chunk.extent);
    const std::string name = known == paths_.end() ? chunk.extent : known->second;
    if (name.empty() || name.find('/') != std::string::npos)
      return Failure{"an extent has no usable name: '" + name + "'"};
    auto file = os::File::open(folder_ + "/" + name, os::File::Mode::kRead);
    if (!file) return Failure{file.error().what};
    file_ = std::move(*file);
    open_ = chunk.extent;
  }
  const auto length = static_cast<size_t>(std::min<uint64_t>(chunk.count - at, kChunkBytes));
  Buffer bytes(length);
  bytes.resize(length);
  auto count = file_->read_at(bytes.data(), length, chunk.offset + at);
  if (!count) return Failure{count.error().what};
  if (*count != length) return Failure{file_->path() + " is shorter than what is said to be in it"};
  return bytes;
}

Outcome Chunks::read_all(const Chunk& chunk, std::string& out) {
  out.clear();
  while (out.size() < chunk.count) {
    auto bytes = read(chunk, out.size());
    if (!bytes) return Failure{bytes.error()};
    out += bytes->view();
  }
  return {};
}

Outcome Target::commit(store::Commit commit) {
  auto done = RunLoop::run(store.commit(std::move(commit)));
  if (!done) return Failure{std::string("it cannot be written: ") + store::describe(done.error())};
  return {};
}

namespace {

account::RetentionPolicy retention_of(const Document& document) {
  return {document.flag("enabled"), static_cast<uint32_t>(document.number("days").value_or(0)),
          document.flag("allowPermanentDelete")};
}

account::Metrics metrics_of(const Document& document) {
  return {document.text("version"), document.flag("enabled"), document.flag("includeAPIs"),
          retention_of(document.object("retentionPolicy"))};
}

account::ServiceProperties properties_of(const Document& document) {
  account::ServiceProperties properties;
  const auto logging = document.object("logging");
  properties.logging = {logging.text("version"), logging.flag("deleteProperty"),
                        logging.flag("read"), logging.flag("write"),
                        retention_of(logging.object("retentionPolicy"))};
  properties.hour_metrics = metrics_of(document.object("hourMetrics"));
  properties.minute_metrics = metrics_of(document.object("minuteMetrics"));
  for (const auto& rule : document.list("cors")) {
    properties.cors.push_back({rule.text("allowedOrigins"), rule.text("allowedMethods"),
                               rule.text("allowedHeaders"), rule.text("exposedHeaders"),
                               static_cast<uint64_t>(rule.number("maxAgeInSeconds").value_or(0))});
  }
  properties.default_version = document.text("defaultServiceVersion");
  properties.delete_retention = retention_of(document.object("deleteRetentionPolicy"));
  const auto website = document.object("staticWebsite");
  properties.static_website = {website.flag("enabled"), website.text("indexDocument"),
                               website.text("defaultIndexDocumentPath"),
                               website.text("errorDocument404Path")};
  return properties;
}

// All that is there; what fails leaves the new directory unfinished.
Result<Imported, std::string> import_into(store::Store& store, const std::string& from) {
  SystemClock clock;
  Target target{store, clock.now(), {}};
  const auto path = [&](std::string_view name) { return from + "/" + std::string(name); };
  auto blobs = Database::load(path("__azurite_db_blob__.json"));
  if (!blobs) return Failure{blobs.error()};
  auto queues = Database::load(path("__azurite_db_queue__.json"));
  if (!queues) return Failure{queues.error()};
  auto tables = Database::load(path("__azurite_db_table__.json"));
  if (!tables) return Failure{tables.error()};
  if (!blobs->exists() && !queues->exists() && !tables->exists())
    return Failure{from + " holds none of Azurite's databases (__azurite_db_blob__.json)"};
  auto blob_chunks = Chunks::open(path("__blobstorage__"), path("__azurite_db_blob_extent__.json"));
  if (!blob_chunks) return Failure{blob_chunks.error()};
  auto queue_chunks =
      Chunks::open(path("__queuestorage__"), path("__azurite_db_queue_extent__.json"));
  if (!queue_chunks) return Failure{queue_chunks.error()};
  if (auto done = import_blobs(target, *blobs, *blob_chunks); !done) return Failure{done.error()};
  if (auto done = import_queues(target, *queues, *queue_chunks); !done)
    return Failure{done.error()};
  if (auto done = import_tables(target, *tables); !done) return Failure{done.error()};
  return target.counts;
}

}  // namespace

Outcome import_properties(Target& target, const Database& database, std::string_view service) {
  std::string why;
  const bool done = database.each("$SERVICES_COLLECTION$", [&](const Document& document) {
    const auto directory = lifetime::directory_space(document.text("accountName"));
    store::Commit commit;
    commit.put(store::Key(directory, lifetime::kPropertiesFamily, service),
               record_of(properties_of(document)));
    auto committed = target.commit(std::move(commit));
    if (!committed) why = committed.error();
    return committed.ok();
  });
  if (!done) return Failure{why};
  return {};
}

Result<Imported, std::string> import_azurite(const std::string& from, const std::string& to) {
  const std::string location = to.substr(0, to.find_last_not_of('/') + 1);
  const auto failed = [&](const std::string& why) {
    return Failure{"The data directory of Azurite's in " + from + " was not brought over: " + why +
                   "."};
  };
  auto names = os::list_directory(location);
  if (!names && names.error().code != ENOENT) return failed(names.error().what);
  if (names && !names->empty()) {
    return failed("the directory " + location +
                  " is not empty; --location chooses another, which is made");
  }
  // Under another name until it is whole.
  const std::string making = location + ".importing";
  if (auto removed = os::remove_tree(making); !removed) return failed(removed.error().what);
  Result<Imported, std::string> done = Failure{std::string()};
  {
    engine::Options options;
    options.location = making;
    options.sweep_interval = std::chrono::seconds(0);
    auto engine = engine::Engine::open(std::move(options));
    if (!engine) return failed(engine.error());
    done = import_into(**engine, from);
  }
  if (!done) {
    (void)os::remove_tree(making);
    return failed(done.error());
  }
  if (auto removed = os::remove_tree(location); !removed) return failed(removed.error().what);
  if (auto named = os::rename_file(making, location); !named) return failed(named.error().what);
  const size_t slash = location.find_last_of('/');
  (void)os::sync_directory(slash == std::string::npos ? "." : location.substr(0, slash + 1));
  return done;
}

}  // namespace kyanite::import
