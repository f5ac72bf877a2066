#include "engine/engine.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "engine/announcer.h"
#include "engine/cache.h"
#include "engine/codec.h"
#include "engine/committer.h"
#include "engine/holds.h"
#include "engine/opening.h"
#include "engine/pin.h"
#include "engine/sweep.h"
#include "engine/syncer.h"

namespace kyanite::engine {

using store::RecordPtr;

namespace {

// Of what a full queue makes of a job.
template <class T>
store::Result<T> or_busy(std::optional<store::Result<T>> done) {
  if (!done) return store::Error::kBusy;
  return std::move(*done);
}

// Scans burn as much of the processors as they get, so one is left for those who do not.
int scan_threads(const Options& options) {
  if (options.scan_threads > 0) return options.scan_threads;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1);
}

// Where scans are looked at: most are over within their first turn, which is like any other read;
// what goes on stands back.
struct ScanPlaces {
  Workers& reads;
  Workers& scans;
  std::chrono::microseconds first_turn;
  std::chrono::microseconds turn;
  std::chrono::microseconds unawaited_turn;
};

class EngineSnapshot final : public store::Snapshot {
 public:
  EngineSnapshot(Records& records, const ScanPlaces& places) : kept_(records), places_(places) {}

  Task<store::Result<void>> look(store::Look look) override {
    if (!long_) {
      const auto others_wait = [this] { return this->others_wait(); };
      auto looked = kept_.look_in_memory(look, others_wait, places_.unawaited_turn, long_);
      if (looked) co_return *looked;
    }
    co_return co_await scan(std::move(look));
  }

  Task<store::Result<void>> scan(store::Look look) override {
    Workers& workers = turns_ == 0 ? places_.reads : places_.scans;
    const auto time = turns_ == 0 ? places_.first_turn : places_.turn;
    const auto turn = turns_ > 1 ? Workers::Turn::kAgain : Workers::Turn::kFirst;
    auto done = co_await workers.try_run([&] { return kept_.look(look, time); }, turn);
    if (done) ++turns_;
    co_return or_busy<void>(done);
  }

 private:
  // For this thread, or for a turn as a scan: whoever has company joins it there.
  bool others_wait() const {
    Executor* const here = Executor::current();
    return places_.scans.waiting() > 0 || here == nullptr || here->is_awaited();
  }

  Records::Kept kept_;
  const ScanPlaces& places_;
  bool long_ = false;  // Has had enough once: others on this thread come first.
  uint64_t turns_ = 0;
};

}  // namespace

// In the order of construction: later ones use earlier ones and are stopped first.
struct Engine::Parts {
  Parts(Options options, OpenParts opened)
      : location(std::move(opened.location)),
        room(std::move(opened.room)),
        records(std::move(opened.records)),
        extents(std::move(opened.extents)),
        appends(options.append_threads, options.most_waiting),
        reads(options.read_threads, options.most_waiting),
        scans(scan_threads(options), options.most_waiting, Workers::Priority::kStandsBack),
        scan_places{reads, scans, options.first_scan_turn, options.scan_turn,
                    options.unawaited_turn},
        cache(options.record_cache_bytes),
        committer(*records, cache, *room),
        announcer(committer, std::move(opened.standing)),
        syncer(extents->writer(), committer),
        sweeper(*records, *extents, committer, holds, *room, options.sweep_interval) {
    extents->writer().set_announce(
        [this](ExtentId id, ExtentId made) { return announcer.announce(id, made); });
  }

  Location location;
  std::unique_ptr<Room> room;
  std::unique_ptr<Records> records;
  std::unique_ptr<Extents> extents;
  Workers appends;
  Workers reads;
  Workers scans;
  const ScanPlaces scan_places;
  RecordCache cache;
  Committer committer;
  Announcer announcer;
  Syncer syncer;
  Holds holds;
  Sweeper sweeper;
};

kyanite::Result<std::unique_ptr<Engine>, std::string> Engine::open(Options options) {
  auto opened = open_parts(options);
  if (!opened) return Failure{opened.error()};
  if (auto tidied = Pin::tidy(opened->location); !tidied) log_warning(tidied.error().what);
  return std::unique_ptr<Engine>(
      new Engine(std::make_unique<Parts>(std::move(options), std::move(*opened))));
}

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

Task<store::Result<RecordPtr>> Engine::get(const store::Key& key) {
  auto found = parts_->cache.find(key.bytes());
  if (found.known) co_return std::move(found.record);
  auto record = parts_->records->get_in_memory(key.bytes());
  if (!record) {
    record = or_busy<RecordPtr>(
        co_await parts_->reads.try_run([&] { return parts_->records->get(key.bytes()); }));
  }
  if (record->ok()) parts_->cache.fill(key.bytes(), **record, found.version);
  co_return std::move(*record);
}

std::optional<RecordPtr> Engine::peek(const store::Key& key) {
  auto found = parts_->cache.find(key.bytes());
  if (!found.known) return std::nullopt;
  return std::move(found.record);
}

Task<store::Result<void>> Engine::look(store::Look look) {
  co_return or_busy<void>(
      co_await parts_->reads.try_run([&] { return parts_->records->look(look); }));
}

std::unique_ptr<store::Snapshot> Engine::snapshot() {
  return std::make_unique<EngineSnapshot>(*parts_->records, parts_->scan_places);
}

Task<store::Result<void>> Engine::commit(store::Commit commit) {
  if (auto fits = check_well_formed(commit); !fits) co_return fits.error();
  co_return co_await submit(std::move(commit));
}

Task<store::Result<void>> Engine::submit(store::Commit commit) {
  CommitRequest request;
  request.commit = std::move(commit);
  for (const auto& write : request.commit.writes) {
    request.heads.push_back(write.record == nullptr ? "" : encode_head(write.record->refs));
  }
  if (parts_->extents->writer().needs_sync(request.commit)) {
    parts_->syncer.submit(&request);
  } else {
    parts_->committer.submit(&request);
  }
  co_return co_await request.done;
}

Task<store::Result<store::Ref>> Engine::append(Buffer bytes) {
  CHECK(!bytes.empty() && bytes.size() <= store::kMaxRunBytes);
  co_return or_busy<store::Ref>(
      co_await parts_->appends.try_run([&] { return parts_->extents->writer().append(bytes); }));
}

Task<store::Result<std::vector<store::Ref>>> Engine::append_all(std::vector<Buffer> runs) {
  for (const Buffer& run : runs) CHECK(!run.empty() && run.size() <= store::kMaxRunBytes);
  co_return or_busy<std::vector<store::Ref>>(
      co_await parts_->appends.try_run([&] { return parts_->extents->writer().append_all(runs); }));
}

Task<store::Result<os::Bytes>> Engine::read_run(store::Ref ref, uint32_t offset, uint32_t length,
                                                bool prefer_file) {
  return parts_->extents->read(parts_->reads, ref, offset, length, prefer_file);
}

store::Hold Engine::hold() { return parts_->holds.take(); }
store::Hold Engine::keep(std::vector<store::Ref> refs) {
  return parts_->holds.keep(std::move(refs));
}

Task<store::Result<size_t>> Engine::erase(store::Range range, size_t most) {
  store::Commit deletes;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    deletes.remove(store::Key::from_bytes(std::string(cursor.key())));
    return deletes.writes.size() < most;
  };
  auto looked = co_await store::scan(*this, std::move(range), see);
  if (!looked) co_return looked.error();
  const size_t count = deletes.writes.size();
  if (count == 0) co_return count;
  auto done = co_await submit(std::move(deletes));
  if (!done) co_return done.error();
  co_return count;
}

kyanite::Result<std::unique_ptr<Pin>, std::string> Engine::pin() {
  // It takes room by itself, and keeps what is deleted from being given back.
  parts_->room->look();
  if (!parts_->room->plenty())
    return Failure{std::string("the disk is full: make room first, or stop the server")};
  return Pin::make(parts_->location, *parts_->records, *parts_->extents, parts_->holds.take());
}

store::Result<SweepReport> Engine::sweep_now() { return parts_->sweeper.run(); }

Metrics Engine::metrics() const {
  const auto& committed = parts_->committer.counters();
  const auto& read = parts_->extents->counters();
  const auto swept = parts_->sweeper.last();
  Metrics out;
  out.commits = committed.commits;
  out.conflicts = committed.conflicts;
  out.failed_commits = committed.failures + parts_->syncer.failures();
  out.batches = committed.batches;
  out.write_seconds = static_cast<double>(committed.sync_nanos) / 1e9;
  out.repairs = parts_->records->repairs();
  out.cache_hits = parts_->cache.hits();
  out.cache_misses = parts_->cache.misses();
  out.appended_runs = parts_->extents->writer().appended_runs();
  out.appended_bytes = parts_->extents->writer().appended_bytes();
  out.reads = read.reads;
  out.trusted_reads = read.trusted_reads;
  out.corrupt_reads = read.corrupt_reads;
  out.sweeps = parts_->sweeper.sweeps();
  out.reclaimed_bytes = parts_->sweeper.reclaimed_bytes();
  out.waiting_commits = parts_->committer.depth() + parts_->syncer.depth();
  out.waiting_appends = parts_->appends.waiting();
  out.waiting_reads = parts_->reads.waiting();
  out.waiting_scans = parts_->scans.waiting();
  out.cache_bytes = parts_->cache.bytes();
  out.extents = swept.extents;
  out.live_bytes = swept.live_bytes;
  out.dead_bytes = swept.dead_bytes;
  out.sweep_extents_left = parts_->sweeper.extents_left();
  out.last_sweep_seconds = swept.seconds;
  return out;
}

}  // namespace kyanite::engine
