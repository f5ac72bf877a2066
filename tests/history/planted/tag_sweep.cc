// In the place of blob/tag_sweep.cc: entries are removed whatever is announced, and without a rest.
#include "blob/tag_sweep.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "blob/tag_entry.h"
#include "fault.h"
#include "store/fields.h"

namespace kyanite::blob {

namespace {

// A family that nobody writes.
store::Family announced_in() { return planted::has("index") ? '-' : kTagChanges; }

Time after_a_rest(Time now, int64_t seconds) {
  return planted::has("index") ? now : after_seconds(now, seconds);
}

}  // namespace

}  // namespace kyanite::blob

#define kTagChanges announced_in()
#define after_seconds after_a_rest
#include "blob/tag_sweep.cc"
