// Contents of more leaves than one commit should write. A commit keeps all others waiting, so their
// leaves come and go in portions, before and after the commit that names the content:
//
// - To copy, a grave is dug first, due some time after the request. The leaves follow, each portion
//   guarded by the grave. The commit that names the content takes the grave away. If it never
//   comes, the leaves go when the grave is due.
// - To remove, the commit that drops the name digs a grave that is due at once.
//
// docs/formats/blob.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/task.h"
#include "content/content.h"
#include "jobs/job.h"
#include "store/fields.h"

namespace kyanite::content {

// partition: that of the object; row: content id
inline constexpr store::Family kGraves = 'D';
inline constexpr size_t kMaxLeavesPerCommit = 1000;
// A request may still commit for a while after its deadline.
inline constexpr int64_t kDraftSeconds = 3600;

struct Grave {
  uint64_t content = 0;
  Time due;  // unset: at once
  template <class Io>
  void fields(Io& io) {
    io(1, content);
    io(2, due);
  }
};

store::Key grave_key(const Place& place, uint64_t content_id);
store::RecordPtr to_record(const Grave& grave);

// Removes leaves of the graves of a space that are due: a jobs::Visit, but for the space.
Task<store::Result<bool>> clear_graves(jobs::Step& step, store::SpaceId space, std::string& key);

}  // namespace kyanite::content
