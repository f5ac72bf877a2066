// Copies from other servers, which take as long as the other server needs: they are pending while
// their bytes are fetched in the background.
//
// Before an object becomes the destination of such a copy a note of it is written to the account's
// directory, and removed when the copy has ended. So a copy goes on, from its beginning, when the
// server is started again. A note without an object that waits for it is removed when it is found.
#pragma once

#include <atomic>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/task.h"
#include "content/content.h"
#include "http/message.h"
#include "jobs/job.h"
#include "service/call.h"
#include "store/store.h"

namespace kyanite::transfer {

// The note of a pending copy.
struct PendingCopy {
  std::string id;
  std::string url;   // whole, with the signature of a SAS
  std::string etag;  // of the source; fetching something else would not be the copy asked for
  store::SpaceId space = 0;
  std::string object;  // Which object of the space, in the words of its service.
  Time started;
  uint64_t runner = 0;  // CopyRunner::id() of the run of the server that began it.
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, url);
    io(3, etag);
    io(4, space);
    io(5, object);
    io(6, started);
    io(7, runner);
  }
};

// What the reply of the other server says for the note; id and place are still to be filled in.
PendingCopy make_note(const service::Call& call, const http::Headers& told);

// The objects of a service that wait for a copy. Each function changes the object while it still
// waits for this copy; false when it no longer does.
class CopyDestinations {
 public:
  virtual ~CopyDestinations() = default;
  virtual Task<store::Result<bool>> progress(service::Context& context, const PendingCopy& copy,
                                             uint64_t copied) const = 0;
  virtual Task<store::Result<bool>> complete(service::Context& context, const PendingCopy& copy,
                                             const content::Pieces& pieces,
                                             uint64_t length) const = 0;
  virtual Task<store::Result<bool>> fail(service::Context& context, const PendingCopy& copy,
                                         const std::string& why) const = 0;
};

// The threads in which pending copies of one service are fetched.
class CopyRunner {
 public:
  static constexpr size_t kAtOnce = 8;  // Further copies wait for their turn.
  static constexpr size_t kMostWaiting = 1'000;
  // A copy of this run of the server that could not be fetched for the moment is tried again, at
  // the earliest this long after it was begun.
  static constexpr int64_t kRetryAfterSeconds = 30;
  // No request waits for a copy and gives it its time. A fetch has its own; what could not be
  // fetched for two weeks has failed.
  static constexpr int64_t kMaxSeconds = int64_t{14} * 24 * 3600;

  // `notes` is the family of the directory that holds the notes. The destinations must outlive
  // this.
  CopyRunner(const CopyDestinations& destinations, store::Family notes);
  // Copies under way stay pending; they begin again with the next start of the server. Waits for
  // what they wait for, so the fetcher should have been stopped.
  ~CopyRunner();
  CopyRunner(const CopyRunner&) = delete;
  CopyRunner& operator=(const CopyRunner&) = delete;

  // Writes the note of a copy that this run of the server begins. To be done before the object is
  // made to wait for it.
  Task<store::Result<void>> note(store::Store& store, const std::string& account,
                                 PendingCopy& copy);

  // Runs the copy, unless that is being done already. When too many wait it is left to the job. The
  // context must outlive this.
  void submit(service::Context& context, std::string account, PendingCopy copy);

  // The job that takes up the copies that an earlier run of the server left pending, and those to
  // be tried again. It uses this and the context.
  jobs::Job resume_job(std::string name, service::Context& context);

 private:
  struct Waiting {
    service::Context* context;
    std::string account;
    PendingCopy copy;
  };

  void work();
  Task<void> run(service::Context& context, const std::string& account, const PendingCopy& copy);
  // Receives the source. The result tells whether the copy has come to an end, whichever.
  Task<store::Result<bool>> fetch(service::Context& context, const std::string& account,
                                  const PendingCopy& copy);
  Task<store::Result<void>> write_note(store::Store& store, const std::string& account,
                                       const std::string& id, store::RecordPtr record) const;
  Task<store::Result<bool>> resume(jobs::Step& step, service::Context& context);

  const CopyDestinations& destinations_;
  const store::Family notes_;
  const uint64_t id_;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<Waiting> waiting_ GUARDED_BY(mutex_);
  std::set<std::string> known_ GUARDED_BY(mutex_);  // Ids of copies that wait or run.
  size_t idle_ GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;  // Added to with the mutex held, until stopping_.
};

}  // namespace kyanite::transfer
