// The table of commands: what each needs and who serves it. Dispatch, metrics and the log read it.
#pragma once

#include <string_view>

#include "drive/exchange.h"
#include "drive/metrics.h"
#include "smb/numbers.h"

namespace kyanite::drive {

struct CommandRow {
  smb::Command command;
  std::string_view name;
  bool needs_session;
  bool needs_tree;
  // What it is answered on IPC$, which has no pipes; kSuccess: its handler sees to that.
  smb::Status on_pipes;
  Handler handler;
};

// Null when there is no such command.
const CommandRow* find_command(smb::Command command);

// What serves the commands, one file each.
Task<Reply> negotiate(Exchange& exchange);
Task<Reply> session_setup(Exchange& exchange);
Task<Reply> logoff(Exchange& exchange);
Task<Reply> tree_connect(Exchange& exchange);
Task<Reply> tree_disconnect(Exchange& exchange);
Task<Reply> create(Exchange& exchange);
Task<Reply> close(Exchange& exchange);
Task<Reply> flush(Exchange& exchange);
Task<Reply> read(Exchange& exchange);
Task<Reply> write(Exchange& exchange);
Task<Reply> ioctl(Exchange& exchange);
Task<Reply> query_directory(Exchange& exchange);
Task<Reply> query_info(Exchange& exchange);
Task<Reply> set_info(Exchange& exchange);
Task<Reply> echo(Exchange& exchange);

}  // namespace kyanite::drive
