#include "engine/announcer.h"

#include <algorithm>

#include "engine/codec.h"

namespace kyanite::engine {

namespace {

Task<store::Result<void>> commit(Committer& committer, store::RecordPtr record) {
  CommitRequest request;
  request.heads.push_back(encode_head(record->refs));
  request.commit.put(standing_key(), std::move(record));
  committer.submit(&request);
  co_return co_await request.done;
}

}  // namespace

store::Result<void> Announcer::announce(ExtentId id, ExtentId made) {
  MutexLock lock(mutex_);
  standing_.announced = std::max(standing_.announced, id);
  standing_.made = std::max(standing_.made, made);
  return RunLoop::run(commit(committer_, to_record(standing_)));
}

}  // namespace kyanite::engine
