#include "drive/open.h"

#include "drive/connection.h"
#include "drive/session.h"

namespace kyanite::drive {

Task<void> end_open(Connection&, std::shared_ptr<Open> open, OpenEnd) {
  (void)open->tree->share.tree.open_files->close(open->handle);
  co_return;
}

}  // namespace kyanite::drive
