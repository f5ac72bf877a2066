// OPLOCK_BREAK: a client says that it has given up what it was asked to, of an oplock or a lease.
#include "drive/cache_holder.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "smb/file_io.h"

namespace kyanite::drive {

namespace {

using smb::Status;
using tree::AcknowledgeError;

Reply acknowledge_lease(Exchange& exchange) {
  const auto request = smb::decode<smb::LeaseBreak>(exchange.message);
  if (!request) return refuse(exchange, request.error());
  const tree::LeaseName lease{exchange.session->client(), request->key};
  const concurrency::Caching kept(static_cast<uint8_t>(request->state));
  if (request->state != kept.bits()) return refuse(exchange, Status::kInvalidParameter);
  const auto done = exchange.tree->share.tree.open_files->acknowledge(lease, kept);
  if (done) return reply(exchange, smb::LeaseBreak{request->key, request->state});
  switch (done.error()) {
    case AcknowledgeError::kUnknown:
      return refuse(exchange, Status::kObjectNameNotFound);
    case AcknowledgeError::kNotBreaking:
      return refuse(exchange, Status::kUnsuccessful);
    case AcknowledgeError::kTooMuch:
      return refuse(exchange, Status::kRequestNotAccepted);
  }
  CHECK(false);
}

Reply acknowledge_oplock(Exchange& exchange) {
  const auto request = smb::decode<smb::OplockBreak>(exchange.message);
  if (!request) return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) return refuse(exchange, Status::kFileClosed);
  if (request->level != smb::OplockLevel::kNone && request->level != smb::OplockLevel::kLevel2)
    return refuse(exchange, Status::kInvalidParameter);
  const auto done = exchange.tree->share.tree.open_files->acknowledge(open->file.handle,
                                                                      caching_of(request->level));
  if (!done) return refuse(exchange, Status::kInvalidOplockProtocol);
  return reply(exchange, smb::OplockBreak{request->level, open->id});
}

}  // namespace

Task<Reply> oplock_break(Exchange& exchange) {
  co_return smb::is_lease_break(exchange.message) ? acknowledge_lease(exchange)
                                                  : acknowledge_oplock(exchange);
}

}  // namespace kyanite::drive
