#include "drive/open.h"

#include "base/log.h"
#include "drive/connection.h"
#include "drive/session.h"
#include "store/occasion.h"
#include "tree/open.h"

namespace kyanite::drive {

Task<void> end_open(Connection& connection, std::shared_ptr<Open> open, OpenEnd) {
  Drive& drive = connection.drive();
  store::Occasion occasion(drive.store, drive.locks, drive.clock);
  occasion.cause.operation = "CLOSE";
  auto closed = co_await tree::close(occasion, open->file, false);
  if (!closed && closed.error() != tree::Error(tree::Refusal::kNoSuchHandle)) {
    log_error("smb: " + open->tree->share.name + "/" + open->file.path +
              " could not be closed as it should");
  }
}

}  // namespace kyanite::drive
