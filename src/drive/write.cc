// WRITE: bytes to a file. They are seen by everybody when the reply is sent, and durable when it
// was written through, or with the next FLUSH or CLOSE.
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_status.h"
#include "drive/write_through.h"
#include "smb/file_io.h"
#include "tree/file_io.h"

namespace kyanite::drive {

namespace {
// The most that clients take for the length of a file. What is less than it but more than a file
// can have here is as if the disk were full.
constexpr uint64_t kMostLength = 0xFFF'FFFF'0000;
}  // namespace

Task<Reply> write(Exchange& exchange) {
  using smb::Status;
  const auto request = smb::decode<smb::WriteRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (!exchange.may_change()) co_return refuse(exchange, Status::kFileNotAvailable);
  if (open->file.directory) co_return refuse(exchange, Status::kInvalidDeviceRequest);
  if (request->channel != 0 || request->offset > INT64_MAX ||
      request->data.size() > uint64_t{INT64_MAX} - request->offset)
    co_return refuse(exchange, Status::kInvalidParameter);
  if (!open->has_any(smb::access::kWriteData | smb::access::kAppendData))
    co_return refuse(exchange, Status::kAccessDenied);
  smb::WriteReply body;
  if (request->data.empty()) co_return reply(exchange, body);
  if (request->offset + request->data.size() > kMostLength)
    co_return refuse(exchange, Status::kInvalidParameter);
  auto written =
      co_await tree::write(exchange.occasion, open->file, request->offset, request->data);
  const bool asked = (request->flags & smb::kWriteFlagThrough) != 0;
  if (written) written = co_await write_through(exchange, *open, asked);
  if (!written) {
    const bool too_large = written.error() == tree::Error(tree::Reason::kTooLarge);
    co_return refuse(exchange, too_large ? Status::kDiskFull : status_of(written.error()));
  }
  open->position = request->offset + request->data.size();
  body.count = static_cast<uint32_t>(request->data.size());
  co_return reply(exchange, body);
}

}  // namespace kyanite::drive
