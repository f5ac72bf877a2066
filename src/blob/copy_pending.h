// Copies from other servers, which take as long as the other server needs: they are pending while
// their bytes are fetched in the background.
//
// Before a blob becomes the destination of such a copy a note of it is written to the account's
// directory, and removed when the copy has ended. So a copy goes on, from its beginning, when the
// server is started again. A note without a blob that waits for it is removed when it is found.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/task.h"
#include "blob/blob.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "service/call.h"

namespace kyanite::blob {

// The note of a pending copy.
struct PendingCopy {
  std::string id;
  std::string url;   // whole, with the signature of a SAS
  std::string etag;  // of the source; fetching something else would not be the copy asked for
  store::SpaceId space = 0;
  std::string blob;
  Time started;
  uint64_t runner = 0;  // CopyRunner::id() of the run of the server that began it.
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, url);
    io(3, etag);
    io(4, space);
    io(5, blob);
    io(6, started);
    io(7, runner);
  }
};

// Makes the addressed blob the destination of a pending copy from a source on another server and
// hands it over to the service's CopyRunner.
Outcome start_pending_copy(service::Call& call, const Checks& checks, NewBlob fresh,
                           const Source& source);

// Fetches the source and completes the copy; leaves it pending when `stopping` becomes true.
Task<void> run_pending_copy(service::Context& context, const std::string& account,
                            const PendingCopy& copy, const std::atomic<bool>& stopping);

// The notes of an account.
Task<store::Result<std::vector<PendingCopy>>> list_pending_copies(store::Store& store,
                                                                  const std::string& account);

}  // namespace kyanite::blob
