// Which structure each command's request is.
#pragma once

#include <string_view>
#include <type_traits>

#include "smb/create.h"
#include "smb/file_io.h"
#include "smb/frame.h"
#include "smb/negotiate.h"
#include "smb/query.h"
#include "smb/session.h"

namespace kyanite::smb {

// Calls visit(std::type_identity<Request>()) with the type of this message's request. False, and
// nothing is called, when there is no such command.
template <class Visit>
bool visit_request_type(const Message& message, Visit&& visit) {
  const auto call = [&]<class Request>(std::type_identity<Request> type) {
    visit(type);
    return true;
  };
  switch (message.header.command) {
    case Command::kNegotiate:
      return call(std::type_identity<NegotiateRequest>());
    case Command::kSessionSetup:
      return call(std::type_identity<SessionSetupRequest>());
    case Command::kLogoff:
      return call(std::type_identity<LogoffRequest>());
    case Command::kTreeConnect:
      return call(std::type_identity<TreeConnectRequest>());
    case Command::kTreeDisconnect:
      return call(std::type_identity<TreeDisconnectRequest>());
    case Command::kCreate:
      return call(std::type_identity<CreateRequest>());
    case Command::kClose:
      return call(std::type_identity<CloseRequest>());
    case Command::kFlush:
      return call(std::type_identity<FlushRequest>());
    case Command::kRead:
      return call(std::type_identity<ReadRequest>());
    case Command::kWrite:
      return call(std::type_identity<WriteRequest>());
    case Command::kLock:
      return call(std::type_identity<LockRequest>());
    case Command::kIoctl:
      return call(std::type_identity<IoctlRequest>());
    case Command::kCancel:
      return call(std::type_identity<CancelRequest>());
    case Command::kEcho:
      return call(std::type_identity<EchoRequest>());
    case Command::kQueryDirectory:
      return call(std::type_identity<QueryDirectoryRequest>());
    case Command::kChangeNotify:
      return call(std::type_identity<ChangeNotifyRequest>());
    case Command::kQueryInfo:
      return call(std::type_identity<QueryInfoRequest>());
    case Command::kSetInfo:
      return call(std::type_identity<SetInfoRequest>());
    case Command::kOplockBreak:
      return is_lease_break(message.bytes) ? call(std::type_identity<LeaseBreak>())
                                           : call(std::type_identity<OplockBreak>());
  }
  return false;
}

}  // namespace kyanite::smb
