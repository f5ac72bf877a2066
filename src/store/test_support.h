// Small things that tests over a Store need.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "store/store.h"

namespace kyanite::store {

inline RecordPtr record_of(std::string value, std::vector<Ref> refs = {}) {
  return std::make_shared<const SharedRecord>(Record{std::move(value), std::move(refs)});
}

inline std::string text_of(const os::Bytes& bytes) {
  if (const auto* buffer = std::get_if<Buffer>(&bytes)) return std::string(buffer->view());
  const auto& slice = std::get<os::FileSlice>(bytes);
  std::string text(slice.length, '\0');
  auto count = slice.file->read_at(text.data(), text.size(), slice.offset);
  EXPECT_TRUE(count.ok() && *count == text.size());
  return text;
}

// Bytes that differ from run to run and from position to position.
inline std::string pattern(size_t length, uint64_t seed) {
  std::string text(length, '\0');
  for (auto& c : text) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(seed >> 56);
  }
  return text;
}

// Starts all tasks on the calling executor and finishes when the last one has.
inline Task<void> all(std::vector<Task<void>> tasks) {
  Pending<bool> done;
  std::atomic<size_t> left{tasks.size() + 1};
  auto run = [](Task<void> task, std::atomic<size_t>& count, Pending<bool>& end) -> Detached {
    co_await std::move(task);
    if (--count == 0) end.set(true);
  };
  for (auto& task : tasks) run(std::move(task), left, done);
  if (--left == 0) done.set(true);
  co_await done;
}

}  // namespace kyanite::store
