// What the engine's tests share: a directory removed afterwards, and short ways to use an engine in
// it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/executor.h"
#include "engine/engine.h"
#include "engine/extent_file.h"
#include "engine/log_ledger.h"
#include "store/test_support.h"

namespace kyanite::engine {

class TestLocation {
 public:
  // In memory where the system has a directory for that: syncs are then quick, and nothing tested
  // needs a disk.
  TestLocation() {
    const char* base = std::getenv("TMPDIR");
    if (base == nullptr) base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(base) + "/kyanite-engine-XXXXXX";
    CHECK(mkdtemp(path_.data()) != nullptr);
  }
  // A directory that another process made and removes.
  explicit TestLocation(std::string path) : path_(std::move(path)), mine_(false) {}
  TestLocation(const TestLocation&) = delete;
  TestLocation& operator=(const TestLocation&) = delete;
  ~TestLocation() {
    if (mine_) std::filesystem::remove_all(path_);
  }

  const std::string& path() const { return path_; }
  std::string extent_path(ExtentId id) const { return path_ + "/extents/" + extent_name(id); }
  // As after a power cut that nothing was known of: how far the logs were synced.
  void forget_logs() const { CHECK(LogLedger::create(path_).ok()); }
  // Small extents, so that few appends fill one, and no sweep but those asked for.
  Options options() const {
    Options options;
    options.location = path_;
    options.append_threads = 2;
    options.read_threads = 2;
    options.extent_bytes = 1 << 20;
    options.sweep_interval = std::chrono::seconds(0);
    options.reserve_bytes = 1 << 20;
    return options;
  }
  std::unique_ptr<Engine> open() const {
    auto engine = Engine::open(options());
    if (!engine.ok()) ADD_FAILURE() << engine.error();
    CHECK(engine.ok());
    return std::move(*engine);
  }

 private:
  std::string path_;
  const bool mine_ = true;
};

inline store::Key test_key(std::string_view name) { return store::Key(1, 't', name); }

inline store::Result<void> put(store::Store& store, std::string_view name, std::string value,
                               std::vector<store::Ref> refs = {}) {
  return RunLoop::run(
      store.commit({{}, {{test_key(name), store::record_of(std::move(value), std::move(refs))}}}));
}
inline store::Result<void> remove(store::Store& store, std::string_view name) {
  return RunLoop::run(store.commit({{}, {{test_key(name), nullptr}}}));
}
inline store::Result<store::RecordPtr> get(store::Store& store, std::string_view name) {
  return RunLoop::run(store.get(test_key(name)));
}
inline store::Result<store::Ref> append(store::Store& store, std::string_view bytes) {
  return RunLoop::run(store.append(Buffer::copy_of(bytes)));
}
// The run's bytes, or what went wrong.
inline std::string bytes_of(store::Store& store, const store::Ref& ref, bool prefer_file = false) {
  auto bytes = RunLoop::run(store.read_run(ref, 0, ref.length, prefer_file));
  return bytes.ok() ? store::text_of(*bytes) : store::describe(bytes.error());
}

}  // namespace kyanite::engine
