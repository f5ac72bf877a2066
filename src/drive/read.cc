// READ: bytes of a file, which go to the client as they came from the store.
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_status.h"
#include "smb/file_io.h"
#include "tree/file_io.h"

namespace kyanite::drive {

Task<Reply> read(Exchange& exchange) {
  using smb::Status;
  const auto request = smb::decode<smb::ReadRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (open->file.directory) co_return refuse(exchange, Status::kInvalidDeviceRequest);
  if (request->channel != 0 || request->offset > INT64_MAX ||
      request->length > uint64_t{INT64_MAX} - request->offset)
    co_return refuse(exchange, Status::kInvalidParameter);
  if (!open->has_any(smb::access::kReadData | smb::access::kExecute))
    co_return refuse(exchange, Status::kAccessDenied);
  auto bytes = co_await tree::read(exchange.occasion, open->file, request->offset, request->length);
  if (!bytes) co_return refuse(exchange, status_of(bytes.error()));
  uint64_t length = 0;
  for (const auto& piece : bytes->pieces) length += os::size_of(piece);
  const bool nothing = length == 0 && request->length > 0;
  if (nothing || length < request->minimum_count) co_return refuse(exchange, Status::kEndOfFile);
  open->position = request->offset + length;
  smb::ReadReply body;
  body.length = static_cast<uint32_t>(length);
  Reply made = reply(exchange, body);
  made.data = std::move(bytes->pieces);
  made.hold = std::move(bytes->hold);
  co_return made;
}

}  // namespace kyanite::drive
