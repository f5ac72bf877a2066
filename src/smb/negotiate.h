// NEGOTIATE: which dialect a connection speaks and, in 3.1.1, with which algorithms.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

inline constexpr size_t kMaxDialects = 64;
inline constexpr size_t kMaxNegotiateContexts = 32;
inline constexpr size_t kMaxAlgorithms = 64;  // In one context.

// The contexts of 3.1.1: what is offered in a request, what was chosen in a reply. Compression,
// transports, RDMA and what is unknown is read over and never answered.
struct NegotiateContexts {
  struct Preauth {
    std::vector<PreauthHashId> hashes;
    std::string_view salt;
    bool operator==(const Preauth&) const = default;
    template <class Io>
    void fields(Io& io) {
      Later<uint16_t> count;
      Later<uint16_t> salt_bytes;
      io(count, salt_bytes);
      io.repeated(count, hashes, kMaxAlgorithms);
      io.following(salt_bytes, salt);
      if (hashes.empty()) io.fail();
    }
  };
  template <class Id>
  struct Choice {
    std::vector<Id> ids;  // The sender's favourite first.
    bool operator==(const Choice&) const = default;
    template <class Io>
    void fields(Io& io) {
      Later<uint16_t> count;
      io(count);
      io.repeated(count, ids, kMaxAlgorithms);
      if (ids.empty()) io.fail();
    }
  };

  std::optional<Preauth> preauth;
  std::optional<Choice<CipherId>> ciphers;
  std::optional<Choice<SigningId>> signing;
  std::string_view net_name;  // The server's name as the client has it, in UTF-16.
  bool operator==(const NegotiateContexts&) const = default;

  // What comes twice, or is not what its type says, is an INVALID_PARAMETER, and so are contexts
  // without a preauthentication hash.
  void read(Reader& io, uint32_t offset, uint16_t count);
  void write(Writer& io, const Later<uint32_t>& offset, const Later<uint16_t>& count) const;

  template <class Io>
  void fields(Io& io, const Later<uint32_t>& offset, const Later<uint16_t>& count) {
    if constexpr (Io::kReading) {
      read(io, offset.value, count.value);
    } else {
      write(io, offset, count);
    }
  }
};

struct NegotiateRequest {
  static constexpr uint16_t kStructureSize = 36;
  uint16_t security_mode = 0;
  uint32_t capabilities = 0;
  Guid client{};
  std::vector<Dialect> dialects;  // Never empty.
  NegotiateContexts contexts;     // If 3.1.1 is among the dialects.
  bool operator==(const NegotiateRequest&) const = default;

  bool offers(Dialect dialect) const {
    return std::find(dialects.begin(), dialects.end(), dialect) != dialects.end();
  }

  template <class Io>
  void fields(Io& io) {
    Later<uint16_t> dialect_count;
    Later<uint32_t> context_offset;  // Of clients without 3.1.1 these hold a time.
    Later<uint16_t> context_count;
    io(dialect_count, security_mode);
    io.reserved(2);
    io(capabilities, client, context_offset, context_count);
    io.reserved(2);
    io.repeated(dialect_count, dialects, kMaxDialects);
    if (dialects.empty()) io.fail();
    if (offers(Dialect::kSmb311)) contexts.fields(io, context_offset, context_count);
  }
};

struct NegotiateReply {
  static constexpr uint16_t kStructureSize = 65;
  uint16_t security_mode = 0;
  Dialect dialect = Dialect::kNone;
  Guid server{};
  uint32_t capabilities = 0;
  uint32_t max_transact = 0;
  uint32_t max_read = 0;
  uint32_t max_write = 0;
  int64_t system_time = 0;  // FILETIME
  int64_t start_time = 0;
  std::string_view token;      // What authentication begins with.
  NegotiateContexts contexts;  // Of 3.1.1.
  bool operator==(const NegotiateReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    Later<uint16_t> context_count;
    Whereabouts<uint16_t, uint16_t> token_at;
    Later<uint32_t> context_offset;
    io(security_mode, dialect, context_count, server, capabilities, max_transact, max_read,
       max_write, system_time, start_time, token_at.offset, token_at.length, context_offset);
    io.placed(token_at, token);
    if (dialect == Dialect::kSmb311) contexts.fields(io, context_offset, context_count);
  }
};

}  // namespace kyanite::smb
