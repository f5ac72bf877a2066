// Controls (IOCTL) of files: copies on the server, sparse ranges, snapshots.
#pragma once

#include <string>

#include "base/task.h"
#include "drive/exchange.h"
#include "drive/open.h"
#include "smb/query.h"

namespace kyanite::drive {

// What a control answers. Some errors come with the usual body.
struct ControlOutput {
  smb::Status status = smb::Status::kSuccess;
  std::string bytes;
  bool has_body = true;

  static ControlOutput refusal(smb::Status why) { return {why, {}, false}; }
};

Task<ControlOutput> file_control(Exchange& exchange, Open& open, const smb::IoctlRequest& request);

}  // namespace kyanite::drive
