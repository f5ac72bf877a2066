// In the place of concurrency/share_mode.cc: what is open over SMB keeps nobody out.
#include "concurrency/share_mode.h"

#include "base/check.h"
#include "fault.h"

#define compatible sound_compatible
#include "concurrency/share_mode.cc"
#undef compatible

namespace kyanite::concurrency {

bool compatible(const Open& a, const Open& b) {
  return planted::has("sharing") || sound_compatible(a, b);
}

bool compatible(FileOperation operation, const Open& smb) {
  return planted::has("beside") || sound_compatible(operation, smb);
}

}  // namespace kyanite::concurrency
