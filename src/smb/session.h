// SESSION_SETUP, LOGOFF, TREE_CONNECT, TREE_DISCONNECT, ECHO and CANCEL.
#pragma once

#include <string>
#include <string_view>

#include "smb/fields.h"
#include "smb/frame.h"
#include "smb/numbers.h"

namespace kyanite::smb {

struct SessionSetupRequest {
  static constexpr uint16_t kStructureSize = 25;
  uint8_t flags = 0;
  uint8_t security_mode = 0;
  uint32_t capabilities = 0;
  uint32_t channel = 0;
  uint64_t previous_session = 0;  // To be ended when this one is authenticated.
  std::string_view token;
  bool operator==(const SessionSetupRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> token_at;
    io(flags, security_mode, capabilities, channel, token_at.offset, token_at.length,
       previous_session);
    io.placed(token_at, token);
  }
};

struct SessionSetupReply {
  static constexpr uint16_t kStructureSize = 9;
  uint16_t flags = 0;
  std::string_view token;
  bool operator==(const SessionSetupReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> token_at;
    io(flags, token_at.offset, token_at.length);
    io.placed(token_at, token);
  }
};

struct TreeConnectRequest {
  static constexpr uint16_t kStructureSize = 9;
  uint16_t flags = 0;
  std::string path;  // \\server\share
  bool operator==(const TreeConnectRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> path_at;
    io(flags, path_at.offset, path_at.length);
    io.placed_text(path_at, path, Status::kBadNetworkName);
  }
};

struct TreeConnectReply {
  static constexpr uint16_t kStructureSize = 16;
  ShareType type = ShareType::kDisk;
  uint32_t flags = 0;
  uint32_t capabilities = 0;
  uint32_t maximal_access = 0;
  bool operator==(const TreeConnectReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(type);
    io.reserved(1);
    io(flags, capabilities, maximal_access);
  }
};

struct LogoffRequest : EmptyBody {};
struct TreeDisconnectRequest : EmptyBody {};
struct EchoRequest : EmptyBody {};
struct CancelRequest : EmptyBody {};

using LogoffReply = EmptyBody;
using TreeDisconnectReply = EmptyBody;
using EchoReply = EmptyBody;

}  // namespace kyanite::smb
