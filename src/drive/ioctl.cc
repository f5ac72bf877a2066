// IOCTL: one control of many.
#include "smb/ioctl.h"

#include <arpa/inet.h>

#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_controls.h"
#include "drive/negotiation.h"
#include "smb/query.h"

namespace kyanite::drive {

namespace {
// For controls of the connection, which no file is needed for.
Reply answer_with(const Exchange& exchange, const smb::IoctlRequest& request,
                  std::string_view output) {
  smb::IoctlReply body;
  body.control = request.control;
  body.file = request.file;
  body.output = output;
  return reply(exchange, body);
}

// Whether NEGOTIATE, which nothing protects below 3.1.1, arrived as the client sent it. If not, the
// connection is in the hands of somebody else.
Reply validate_negotiate(Exchange& exchange, const smb::IoctlRequest& request) {
  const Agreement& agreement = exchange.agreement();
  const auto asked = smb::decode_input<smb::ValidateNegotiateRequest>(request.input);
  smb::ValidateNegotiateReply answer{agreement.capabilities, exchange.connection.drive().guid,
                                     agreement.security_mode, agreement.dialect};
  std::string output;
  smb::append_fields(output, answer);
  const bool same = asked && agreement.dialect != smb::Dialect::kSmb311 &&
                    asked->capabilities == agreement.client_capabilities &&
                    asked->client == agreement.client &&
                    asked->security_mode == agreement.client_security_mode &&
                    choose_dialect(asked->dialects) == agreement.dialect;
  if (!same) {
    exchange.drop("NEGOTIATE was changed on its way");
    return refuse(exchange, smb::Status::kAccessDenied);
  }
  if (request.max_output < output.size()) return refuse(exchange, smb::Status::kInvalidParameter);
  return answer_with(exchange, request, output);
}

// Where else the client could connect to: nowhere, but as often as it likes where it did.
Reply network_interfaces(Exchange& exchange, const smb::IoctlRequest& request) {
  constexpr uint64_t kBitsPerSecond = 1'000'000'000;  // Nobody knows.
  Connection& connection = exchange.connection;
  if ((connection.agreement->capabilities & smb::capability::kMultiChannel) == 0)
    return refuse(exchange, smb::Status::kNotSupported);
  if (request.file != smb::kPreviousFile) return refuse(exchange, smb::Status::kInvalidParameter);
  const std::string address = connection.carrier().local();
  smb::NetworkInterface interface;
  interface.index = 1;
  interface.capabilities = smb::interface_capability::kRss;
  interface.bits_per_second = kBitsPerSecond;
  interface.ip6 = address.find(':') != std::string::npos;
  const int family = interface.ip6 ? AF_INET6 : AF_INET;
  if (inet_pton(family, address.c_str(), interface.address.data()) != 1)
    return refuse(exchange, smb::Status::kInternalError);
  const std::string output = smb::encode_network_interfaces({&interface, 1});
  if (request.max_output < output.size()) return refuse(exchange, smb::Status::kBufferTooSmall);
  return answer_with(exchange, request, output);
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
  if (request->control == smb::Control::kQueryNetworkInterfaces)
    co_return network_interfaces(exchange, *request);
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, smb::Status::kFileClosed);
  if (!exchange.may_change()) co_return refuse(exchange, smb::Status::kFileNotAvailable);
  const ControlOutput output = co_await file_control(exchange, *open, *request);
  if (!output.has_body) co_return refuse(exchange, output.status);
  smb::IoctlReply body;
  body.control = request->control;
  body.file = open->id;
  body.output = output.bytes;
  co_return reply(exchange, body, output.status);
}

}  // namespace kyanite::drive
