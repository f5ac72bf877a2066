#include "engine/sweep.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/log.h"
#include "engine/codec.h"

namespace kyanite::engine {

namespace {

using store::Error;

// One pass over all records serves this many extents: a bit for each of their pages, 16 MiB in all.
constexpr size_t kGroupExtents = 4096;
constexpr std::chrono::milliseconds kGentleWork{10};
// A server that was killed has left extents at the size they were prepared with; they do not wait
// for a whole interval, which a server that is often restarted may never reach.
constexpr std::chrono::seconds kFirstSweep{10};
// Somebody deletes to make room, and waits for it.
constexpr std::chrono::seconds kFullSweep{2};

double seconds_since(SteadyTime start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Sweeper::Sweeper(Records& records, Extents& extents, Committer& committer, Holds& holds,
                 const Room& room, std::chrono::seconds interval)
    : records_(records), extents_(extents), committer_(committer), holds_(holds), room_(room) {
  if (interval.count() == 0) return;
  thread_ = std::thread([this, interval] { loop(interval); });
  pthread_setname_np(thread_.native_handle(), "sweeper");
}

Sweeper::~Sweeper() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  holds_.stop();
  if (thread_.joinable()) thread_.join();
}

void Sweeper::loop(std::chrono::seconds interval) {
  stand_back();
  std::optional<uint64_t> swept_at;  // How many commits there were.
  auto due = std::chrono::steady_clock::now() + std::min(interval, kFirstSweep);
  MutexLock lock(mutex_);
  while (!wake_.wait_for(lock, std::min(interval, kFullSweep), [this] { return stopping(); })) {
    if (room_.plenty() && std::chrono::steady_clock::now() < due) continue;
    lock.unlock();
    const uint64_t commits = committer_.counters().commits;
    if (commits != swept_at && run(Pace::kGentle).ok()) swept_at = commits;
    due = std::chrono::steady_clock::now() + interval;
    lock.lock();
  }
}

store::Result<SweepReport> Sweeper::run() { return run(Pace::kFull); }

store::Result<SweepReport> Sweeper::run(Pace pace) {
  MutexLock only(running_);
  const auto start = std::chrono::steady_clock::now();
  // Nothing is appended while the disk is full, so what was last appended to can be swept as well.
  if (!room_.plenty()) extents_.writer().seal_all();
  auto ids = extents_.list();
  if (!ids) {
    log_error(ids.error().what);
    return Error::kIo;
  }
  const std::vector<ExtentId> listed = *ids;
  std::erase_if(*ids, [&](ExtentId id) { return !extents_.writer().is_sealed(id); });
  highest_ = highest_there(listed);
  SweepReport report;
  for (size_t at = 0; at < ids->size(); at += kGroupExtents) {
    const auto from = ids->begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kGroupExtents, ids->size() - at);
    const std::vector<ExtentId> group(from, from + static_cast<std::ptrdiff_t>(count));
    extents_left_ = ids->size() - at;
    auto swept = sweep_group(group, pace, report);
    extents_left_ = 0;
    if (!swept) return swept.error();
  }
  report.seconds = seconds_since(start);
  ++sweeps_;
  MutexLock lock(mutex_);
  last_ = report;
  return report;
}

// One that was being made when they were listed may have failed to be, and is gone by now.
ExtentId Sweeper::highest_there(const std::vector<ExtentId>& listed) const {
  for (size_t i = listed.size(); i > 0; --i) {
    const auto file = extents_.open_file(listed[i - 1]);
    if (file.ok() || file.error().code != ENOENT) return listed[i - 1];
  }
  return 0;
}

store::Result<void> Sweeper::sweep_group(const std::vector<ExtentId>& group, Pace pace,
                                         SweepReport& report) {
  LiveMap live;
  std::vector<ExtentId> known;
  for (ExtentId id : group) {
    auto file = extents_.open_file(id);
    auto status = file.ok() ? (*file)->status() : Failure{file.error()};
    if (!status) {
      log_warning(status.error().what);
      continue;  // Left alone; the others can be swept.
    }
    if (extents_.is_foreign(**file)) {
      log_warning((*file)->path() + " is an extent of another data directory and left alone");
      continue;
    }
    live.add(id, status->size);
    known.push_back(id);
  }
  committer_.watch(&live);
  auto marked = mark(live, pace);
  const bool holds_gone = marked.ok() && holds_.wait_for_earlier();
  // What was kept under one of those Holds is known by now; what is let go of because it was
  // committed is still watched.
  if (holds_gone) holds_.each_kept([&](const store::Ref& ref) { live.mark(ref); });
  committer_.watch(nullptr);
  if (!marked) return marked;
  if (!holds_gone) return Error::kIo;  // Being stopped.
  auto worked = std::chrono::steady_clock::now();
  for (ExtentId id : known) {
    reclaim(id, live, report);
    --extents_left_;
    rest(pace, worked);
  }
  return {};
}

store::Result<void> Sweeper::mark(LiveMap& live, Pace pace) {
  bool intact = true;
  size_t count = 0;
  auto worked = std::chrono::steady_clock::now();
  auto scanned = records_.scan_all([&](std::string_view, std::string_view bytes) {
    const auto refs = decode_refs(bytes);
    intact = refs.has_value();
    if (!intact) return false;
    for (const auto& ref : *refs) live.mark(ref);
    if (++count % 1024 == 0) rest(pace, worked);
    return !stopping();
  });
  if (!scanned) return scanned;
  if (!intact) {
    log_error("a record is not in a format this version knows: nothing is reclaimed");
    return Error::kCorrupt;
  }
  if (stopping()) return Error::kIo;
  return {};
}

void Sweeper::reclaim(ExtentId id, const LiveMap& live, SweepReport& report) {
  auto file = extents_.open_file(id);
  auto status = file.ok() ? (*file)->status() : Failure{file.error()};
  if (!status) {
    log_warning(status.error().what);
    return;
  }
  ++report.extents;
  const uint64_t live_pages = live.live_pages(id);
  report.live_bytes += live_pages * kPageBytes;
  report.dead_bytes +=
      status->allocated_bytes - std::min(status->allocated_bytes, live_pages * kPageBytes);
  uint64_t bytes = 0;
  if (live_pages <= 1 && id != highest_) {
    if (auto removed = extents_.remove(id); !removed) {
      log_warning(removed.error().what);
      return;
    }
    ++report.removed_extents;
    bytes = status->allocated_bytes;
  } else if (status->allocated_bytes > live_pages * kPageBytes) {
    // Otherwise no more is allocated than lives, as after the last sweep.
    bytes = punch(**file, live.dead(id));
  }
  report.reclaimed_bytes += bytes;
  reclaimed_bytes_ += bytes;
}

uint64_t Sweeper::punch(const os::File& file, const std::vector<LiveMap::Pages>& dead) {
  const auto before = file.status();
  for (const auto& [first, count] : dead) {
    auto punched = file.punch_hole(first * kPageBytes, count * kPageBytes);
    if (punched) continue;
    if (punched.error().code != EOPNOTSUPP) log_warning(punched.error().what);
    break;
  }
  const auto after = file.status();
  if (!before || !after || after->allocated_bytes >= before->allocated_bytes) return 0;
  return before->allocated_bytes - after->allocated_bytes;
}

// In the background, rests as long as it worked.
void Sweeper::rest(Pace pace, SteadyTime& since) {
  if (pace == Pace::kFull) return;
  const auto worked = std::chrono::steady_clock::now() - since;
  if (worked < kGentleWork) return;
  MutexLock lock(mutex_);
  wake_.wait_for(lock, worked, [this] { return stopping(); });
  since = std::chrono::steady_clock::now();
}

SweepReport Sweeper::last() const {
  MutexLock lock(mutex_);
  return last_;
}

}  // namespace kyanite::engine
