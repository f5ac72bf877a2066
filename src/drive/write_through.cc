#include "drive/write_through.h"

#include "drive/connection.h"
#include "tree/file_io.h"

namespace kyanite::drive {

Task<tree::Result<void>> write_through(Exchange& exchange, Open& open, bool asked) {
  // As it was opened, or as its client said later.
  const uint32_t modes = open.options | open.mode;
  const bool through = asked || (modes & smb::create_option::kWriteThrough) != 0 ||
                       exchange.connection.drive().write_behind_ticks == 0;
  if (!through) co_return tree::Result<void>();
  co_return co_await tree::flush(exchange.occasion, open.file);
}

}  // namespace kyanite::drive
