#include "drive/open.h"

#include "base/log.h"
#include "drive/connection.h"
#include "drive/session.h"
#include "store/occasion.h"
#include "tree/open.h"

namespace kyanite::drive {

void release(Drive& drive, Open& open) {
  if (open.watch) open.file.tree.open_files->watchers().close(*open.watch);
  if (open.named) drive.creates.end(*open.named, 0);
  if (open.program) drive.programs.remove(*open.program, open.file.handle);
}

Task<void> end_open(Connection& connection, std::shared_ptr<Open> open, OpenEnd why) {
  Drive& drive = connection.drive();
  // Who comes back for it may do so on another loop: then nobody may work with it here.
  if (why != OpenEnd::kTreeDisconnected && open->durable.version != 0 && open->at_work == 0 &&
      open->file.tree.open_files->park(open->file.handle, open->durable.seconds, open))
    co_return;
  release(drive, *open);
  store::Occasion occasion(drive.store, drive.locks, drive.clock);
  occasion.cause.operation = "CLOSE";
  auto closed = co_await tree::close(occasion, open->file, false);
  if (!closed && closed.error() != tree::Error(tree::Refusal::kNoSuchHandle)) {
    log_error("smb: " + open->tree->share.name + "/" + open->file.path +
              " could not be closed as it should");
  }
}

}  // namespace kyanite::drive
