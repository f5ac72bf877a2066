#include "engine/syncer.h"

#include <pthread.h>

namespace kyanite::engine {

namespace {
constexpr size_t kMostTogether = 256;
}

Syncer::Syncer(ExtentWriter& extents, Committer& committer)
    : extents_(extents), committer_(committer), thread_([this] { loop(); }) {
  pthread_setname_np(thread_.native_handle(), "syncer");
}

Syncer::~Syncer() {
  queue_.close();
  thread_.join();
}

void Syncer::loop() {
  std::vector<CommitRequest*> requests;
  std::vector<const store::Commit*> commits;
  while (queue_.take(requests, kMostTogether)) {
    commits.clear();
    for (const auto* request : requests) commits.push_back(&request->commit);
    const auto results = extents_.sync(commits);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (results[i].ok()) {
        committer_.submit(requests[i]);
      } else {
        ++failures_;
        requests[i]->done.set(results[i].error());
      }
    }
  }
}

}  // namespace kyanite::engine
