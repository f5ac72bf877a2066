// CLOSE: ends an open. What was written through it is durable when the reply is sent.
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "smb/file_io.h"
#include "tree/open.h"

namespace kyanite::drive {

Task<Reply> close(Exchange& exchange) {
  const auto request = smb::decode<smb::CloseRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, smb::Status::kFileClosed);
  exchange.session->remove_open(*open);
  exchange.connection.drive().metrics.opens.fetch_sub(1, std::memory_order_relaxed);
  release(exchange.connection.drive(), *open);
  const bool asked = (request->flags & smb::kCloseQueryAttributes) != 0;
  auto closed = co_await tree::close(exchange.occasion, open->file, asked);
  if (!closed) co_return refuse(exchange, status_of(closed.error()));
  smb::CloseReply body;
  if (asked && *closed) {
    const tree::Entry& entry = **closed;
    body.flags = smb::kCloseQueryAttributes;
    body.times = times_of(entry);
    body.allocation_size = allocation_of(entry, open->allocation);
    body.end_of_file = length_of(entry);
    body.attributes = attributes_of(entry);
  }
  co_return reply(exchange, body);
}

}  // namespace kyanite::drive
