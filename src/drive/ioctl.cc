// IOCTL: one control of many.
#include "smb/ioctl.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_controls.h"
#include "drive/negotiation.h"
#include "smb/query.h"

namespace kyanite::drive {

namespace {
// Whether NEGOTIATE, which nothing protects below 3.1.1, arrived as the client sent it. If not, the
// connection is in the hands of somebody else.
Reply validate_negotiate(Exchange& exchange, const smb::IoctlRequest& request) {
  Connection& connection = exchange.connection;
  const Agreement& agreement = *connection.agreement;
  const auto asked = smb::decode_input<smb::ValidateNegotiateRequest>(request.input);
  smb::ValidateNegotiateReply answer{agreement.capabilities, connection.drive().guid,
                                     agreement.security_mode, agreement.dialect};
  std::string output;
  smb::append_fields(output, answer);
  const bool same = asked && agreement.dialect != smb::Dialect::kSmb311 &&
                    asked->capabilities == agreement.client_capabilities &&
                    asked->client == agreement.client &&
                    asked->security_mode == agreement.client_security_mode &&
                    choose_dialect(asked->dialects) == agreement.dialect;
  if (!same) {
    connection.drop("NEGOTIATE was changed on its way");
    return refuse(exchange, smb::Status::kAccessDenied);
  }
  if (request.max_output < output.size()) return refuse(exchange, smb::Status::kInvalidParameter);
  smb::IoctlReply body;
  body.control = request.control;
  body.file = request.file;
  body.output = output;
  return reply(exchange, body);
}
}  // namespace

Task<Reply> ioctl(Exchange& exchange) {
  const auto request = smb::decode<smb::IoctlRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  if (request->flags != smb::kIoctlFlagFsctl)
    co_return refuse(exchange, smb::Status::kNotSupported);
  if (request->control == smb::Control::kValidateNegotiate)
    co_return validate_negotiate(exchange, *request);
  const smb::Status refusal = smb::refusal_of(request->control);
  if (refusal != smb::Status::kSuccess) co_return refuse(exchange, refusal);
  // Connections are not bound together, so there is nothing to choose from.
  if (request->control == smb::Control::kQueryNetworkInterfaces)
    co_return refuse(exchange, smb::Status::kNotSupported);
  const smb::FileId file = exchange.file(request->file);
  const auto open = exchange.session->find_open(file);
  if (open == nullptr) co_return refuse(exchange, smb::Status::kFileClosed);
  const ControlOutput output = co_await file_control(exchange, *open, *request);
  if (!output.has_body) co_return refuse(exchange, output.status);
  smb::IoctlReply body;
  body.control = request->control;
  body.file = file;
  body.output = output.bytes;
  co_return reply(exchange, body, output.status);
}

}  // namespace kyanite::drive
