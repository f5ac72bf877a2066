#include "drive/commands.h"

namespace kyanite::drive {

namespace {
Task<Reply> not_served(Exchange& exchange) {
  co_return refuse(exchange, smb::Status::kNotSupported);
}

using smb::Command;
constexpr smb::Status kDecides = smb::Status::kSuccess;
constexpr smb::Status kNoPipe = smb::Status::kObjectNameNotFound;
constexpr smb::Status kNoFile = smb::Status::kFileClosed;

// By their numbers. CANCEL has no reply and is served where it arrives.
constexpr CommandRow kCommands[] = {
    {Command::kNegotiate, "NEGOTIATE", false, false, kDecides, negotiate},
    {Command::kSessionSetup, "SESSION_SETUP", false, false, kDecides, session_setup},
    {Command::kLogoff, "LOGOFF", true, false, kDecides, logoff},
    {Command::kTreeConnect, "TREE_CONNECT", true, false, kDecides, tree_connect},
    {Command::kTreeDisconnect, "TREE_DISCONNECT", true, true, kDecides, tree_disconnect},
    {Command::kCreate, "CREATE", true, true, kNoPipe, create},
    {Command::kClose, "CLOSE", true, true, kNoFile, close},
    {Command::kFlush, "FLUSH", true, true, kNoFile, flush},
    {Command::kRead, "READ", true, true, kNoFile, read},
    {Command::kWrite, "WRITE", true, true, kNoFile, write},
    {Command::kLock, "LOCK", true, true, kNoFile, not_served},
    {Command::kIoctl, "IOCTL", true, true, kDecides, ioctl},
    {Command::kCancel, "CANCEL", false, false, kDecides, nullptr},
    {Command::kEcho, "ECHO", false, false, kDecides, echo},
    {Command::kQueryDirectory, "QUERY_DIRECTORY", true, true, kNoFile, query_directory},
    {Command::kChangeNotify, "CHANGE_NOTIFY", true, true, kNoFile, not_served},
    {Command::kQueryInfo, "QUERY_INFO", true, true, kNoFile, query_info},
    {Command::kSetInfo, "SET_INFO", true, true, kNoFile, set_info},
    {Command::kOplockBreak, "OPLOCK_BREAK", true, true, kNoFile, not_served},
};
static_assert(std::size(kCommands) == kCommandCount);
}  // namespace

const CommandRow* find_command(smb::Command command) {
  const auto number = static_cast<size_t>(command);
  return number < kCommandCount ? &kCommands[number] : nullptr;
}

}  // namespace kyanite::drive
