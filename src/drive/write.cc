// WRITE: bytes to a file. They are seen by everybody when the reply is sent, and durable when it
// was written through, or with the next FLUSH or CLOSE.
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_status.h"
#include "smb/file_io.h"
#include "tree/file_io.h"

namespace kyanite::drive {

Task<Reply> write(Exchange& exchange) {
  using smb::Status;
  const auto request = smb::decode<smb::WriteRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.session->find_open(exchange.file(request->file));
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (open->file.directory) co_return refuse(exchange, Status::kInvalidDeviceRequest);
  if (request->channel != 0 || request->offset > INT64_MAX ||
      request->data.size() > uint64_t{INT64_MAX} - request->offset)
    co_return refuse(exchange, Status::kInvalidParameter);
  if (!open->has_any(smb::access::kWriteData | smb::access::kAppendData))
    co_return refuse(exchange, Status::kAccessDenied);
  auto written =
      co_await tree::write(exchange.occasion, open->file, request->offset, request->data);
  const bool through = (request->flags & smb::kWriteFlagThrough) != 0 ||
                       (open->options & smb::create_option::kWriteThrough) != 0 ||
                       exchange.connection.drive().write_behind_ticks == 0;
  if (written && through) written = co_await tree::flush(exchange.occasion, open->file);
  if (!written) co_return refuse(exchange, status_of(written.error()));
  open->position = request->offset + request->data.size();
  smb::WriteReply body;
  body.count = static_cast<uint32_t>(request->data.size());
  co_return reply(exchange, body);
}

}  // namespace kyanite::drive
