// The File service as the front sees it.
#pragma once

#include <unordered_set>

#include "base/mutex.h"
#include "file/copy_pending.h"
#include "lifetime/directory.h"
#include "service/service.h"
#include "transfer/source_object.h"
#include "tree/open_files.h"
#include "tree/usage.h"

namespace kyanite::file {

using tree::OpenFiles;

// Shares whose deletion may have happened. Thread-safe.
class DoubtfulShares {
 public:
  void add(store::SpaceId space) {
    MutexLock lock(mutex_);
    spaces_.insert(space);
  }
  // Whether it was one, which it is no more.
  bool take(store::SpaceId space) {
    MutexLock lock(mutex_);
    return spaces_.erase(space) != 0;
  }

 private:
  Mutex mutex_;
  std::unordered_set<store::SpaceId> spaces_ GUARDED_BY(mutex_);
};

class FileService final : public service::Service, public transfer::Sources {
 public:
  wire::Service kind() const override { return wire::Service::kFile; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
  const transfer::Sources* sources() const override { return this; }
  Task<wire::Result<transfer::SourceObject>> source(
      service::Call& call, const std::optional<headers::ByteRange>& range) const override;
  std::vector<jobs::Job> make_jobs(service::Context& context) const override;

  OpenFiles& open_files() const { return open_files_; }
  tree::Usage& usage() const { return usage_; }
  transfer::CopyRunner& copy_runner() const { return copy_runner_; }

  // The share is deleted: ends what clients have open of it, and what is not stored yet.
  void end_share(store::SpaceId space) const;
  // It may be: nobody knows until its space is found dead, which ends it then. Who opens something
  // looks whether it is there meanwhile.
  void note_doubtful(store::SpaceId space) const {
    doubtful_.add(space);
    open_files_.note_doubtful_deletion();
  }

 private:
  mutable OpenFiles open_files_;
  mutable tree::Usage usage_;
  mutable DoubtfulShares doubtful_;
  const PendingFiles pending_files_{open_files_, usage_};
  mutable transfer::CopyRunner copy_runner_{pending_files_, lifetime::kPendingFileCopiesFamily};
};

// The service that serves the call.
const FileService& file_service(const service::Call& call);

// The open-file table of the service that serves the call, and what it knows of sizes.
OpenFiles& open_files(const service::Call& call);
tree::Usage& usage(const service::Call& call);

}  // namespace kyanite::file
