#include "import/azurite.h"

#include <algorithm>
#include <utility>

#include "account/properties.h"
#include "base/executor.h"
#include "engine/engine.h"
#include "engine/new_location.h"
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

struct Source {
  Database blobs;
  Database queues;
  Database tables;
  Chunks blob_chunks;
  Chunks queue_chunks;
};

Result<Source, std::string> open_source(const std::string& from) {
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
  return Source{std::move(*blobs), std::move(*queues), std::move(*tables), std::move(*blob_chunks),
                std::move(*queue_chunks)};
}

Result<Imported, std::string> import_into(store::Store& store, Source& source) {
  SystemClock clock;
  Target target{store, clock.now(), {}};
  auto done = import_blobs(target, source.blobs, source.blob_chunks);
  if (done) done = import_queues(target, source.queues, source.queue_chunks);
  if (done) done = import_tables(target, source.tables);
  if (!done) return Failure{done.error()};
  return target.counts;
}

Result<Imported, std::string> import_to(const std::string& location, Source& source) {
  engine::Options options;
  options.location = location;
  options.sweep_interval = std::chrono::seconds(0);
  auto engine = engine::Engine::open(std::move(options));
  if (!engine) return Failure{engine.error()};
  return import_into(**engine, source);
}

// The data directory within its directory. That it is one is said last.
Outcome move_up(const std::string& making, const std::string& location) {
  auto names = os::list_directory(making);
  if (!names) return Failure{names.error().what};
  std::sort(names->begin(), names->end(), [](const std::string& a, const std::string& b) {
    return std::pair(a == "FORMAT", a) < std::pair(b == "FORMAT", b);
  });
  for (const auto& name : *names) {
    if (name == "lock") continue;
    auto moved = os::rename_file(making + "/" + name, location + "/" + name);
    if (!moved) return Failure{moved.error().what};
  }
  return {};
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
  auto source = open_source(from);
  if (!source) return failed(source.error());
  auto begun = engine::NewLocation::begin(location, engine::kImporting);
  if (!begun) {
    return failed("in " + location + " " + begun.error() +
                  "; --location chooses another directory, which is made");
  }
  // It may be a volume, beside which nothing can be made.
  const std::string making = location + "/making";
  auto done = import_to(making, *source);
  if (done) {
    // What fails here leaves it unfinished; the next try removes it.
    if (auto moved = move_up(making, location); !moved) return failed(moved.error());
  }
  if (auto removed = os::remove_tree(making); !removed) return failed(removed.error().what);
  if (auto finished = begun->finish(); !finished) return failed(finished.error());
  if (!done) return failed(done.error());
  return done;
}

}  // namespace kyanite::import
