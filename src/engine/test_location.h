// A directory for one test's engine, removed afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "engine/engine.h"

namespace kyanite::engine {

class TestLocation {
 public:
  TestLocation() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base == nullptr ? "/tmp" : base) + "/kyanite-engine-XXXXXX";
    CHECK(mkdtemp(path_.data()) != nullptr);
  }
  TestLocation(const TestLocation&) = delete;
  TestLocation& operator=(const TestLocation&) = delete;
  ~TestLocation() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  // Small extents, so that few appends seal one, and no sweep but those asked for.
  Options options() const {
    Options options;
    options.location = path_;
    options.worker_threads = 2;
    options.extent_bytes = 2 << 20;
    options.sweep_interval = std::chrono::seconds(0);
    return options;
  }

 private:
  std::string path_;
};

}  // namespace kyanite::engine
