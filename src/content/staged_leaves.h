// Leaves of a new content, however many. All but the last portion are stored before the commit that
// names the content, guarded by a grave (content/graves.h); for the files of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/task.h"
#include "content/content.h"

namespace kyanite::content {

// What a portion may have of records' bytes: leaves of very many pieces are long.
inline constexpr size_t kMaxPortionBytes = 64 * 1024 * 1024;

class StagedLeaves {
 public:
  // Without a time there is none at which a grave could be due: then all is one portion.
  StagedLeaves(store::Store& store, const Place& place, Deadline deadline);

  uint64_t id() const { return id_; }  // of the new content
  // To be asked after each leaf: then put_portion() comes before the next.
  bool is_full() const;
  void add(uint64_t mark, store::RecordPtr leaf);
  Task<store::Result<void>> put_portion();
  // The last portion becomes part of the commit that names the content.
  void finish(store::Commit& commit);
  // It will not be named: what is stored of it goes soon, and need not wait until the grave is due.
  Task<void> give_up();

 private:
  store::Store& store_;
  const Place place_;
  const Deadline deadline_;
  const uint64_t id_;
  std::vector<store::Write> portion_;
  size_t bytes_ = 0;        // of the portion
  store::RecordPtr grave_;  // Null while one commit is enough.
};

}  // namespace kyanite::content
