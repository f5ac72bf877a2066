// FLUSH: whatever was written to the file before is durable when the reply is sent.
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_status.h"
#include "smb/file_io.h"
#include "tree/file_io.h"

namespace kyanite::drive {

Task<Reply> flush(Exchange& exchange) {
  const auto request = smb::decode<smb::FlushRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, smb::Status::kFileClosed);
  if (!open->has_any(smb::access::kWriteData | smb::access::kAppendData))
    co_return refuse(exchange, smb::Status::kAccessDenied);
  auto flushed = co_await tree::flush(exchange.occasion, open->file);
  if (!flushed) co_return refuse(exchange, status_of(flushed.error()));
  co_return reply(exchange, smb::FlushReply());
}

}  // namespace kyanite::drive
