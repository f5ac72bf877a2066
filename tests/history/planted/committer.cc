// In the place of engine/committer.cc: there is time between the instant when a batch is written
// and the instants when the cache has its records.
#include "engine/committer.h"

#include <pthread.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <thread>

#include "fault.h"

namespace kyanite::engine {

namespace {

constexpr std::chrono::milliseconds kPause{2};

std::string_view slowly(std::string_view key) {
  if (planted::has("slow")) std::this_thread::sleep_for(kPause);
  return key;
}

}  // namespace

}  // namespace kyanite::engine

#define put(key, record) put(slowly(key), record)
#include "engine/committer.cc"
