#include "smb/info.h"

namespace kyanite::smb {

InfoOutput fit_output(std::string bytes, size_t least, size_t most) {
  if (most < least) return {Status::kInfoLengthMismatch, {}};
  if (bytes.size() <= most) return {Status::kSuccess, std::move(bytes)};
  bytes.resize(most);
  return {Status::kBufferOverflow, std::move(bytes)};
}

}  // namespace kyanite::smb
