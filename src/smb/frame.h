// What surrounds requests and replies: the four bytes before each frame on a TCP connection, the
// header of a message, the chain of messages in one frame, the header of an encrypted frame and the
// hello of clients that also speak SMB1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

inline constexpr size_t kPrefixBytes = 4;
inline constexpr size_t kHeaderBytes = 64;
inline constexpr size_t kTransformBytes = 52;
inline constexpr size_t kSignatureBytes = 16;
inline constexpr size_t kSignatureOffset = 48;
inline constexpr size_t kChainAlignment = 8;
inline constexpr size_t kMaxChain = 128;              // Messages in one frame.
inline constexpr size_t kMaxFrameBytes = 0xFFFFFF;    // What the prefix can say.
inline constexpr uint64_t kUnsolicited = UINT64_MAX;  // The message id of breaks.

struct Prefix {
  enum Kind {
    kFrame,      // `bytes` follow.
    kKeepAlive,  // To be ignored.
    kRefused,    // Too long, or not of this protocol: the connection ends.
  };
  Kind kind = kRefused;
  size_t bytes = 0;
};
Prefix read_prefix(const std::array<char, kPrefixBytes>& prefix, size_t most_bytes);
std::array<char, kPrefixBytes> make_prefix(size_t frame_bytes);

// What a frame is, by its first bytes. Compressed frames and all others end the connection.
enum class FrameKind { kMessages, kSealed, kSmb1, kCompressed, kOther };
FrameKind kind_of(std::string_view frame);

struct Header {
  uint16_t credit_charge = 0;
  Status status = Status::kSuccess;  // Of replies; requests have the channel sequence there.
  Command command = Command::kNegotiate;
  uint16_t credits = 0;  // Asked for, or granted.
  uint32_t flags = 0;
  uint32_t next_command = 0;  // From this header to that of the next message; 0 in the last.
  uint64_t message_id = 0;
  uint32_t process_id = 0;  // These two if it is not async,
  uint32_t tree_id = 0;
  uint64_t async_id = 0;  // this one if it is.
  uint64_t session_id = 0;
  std::array<char, kSignatureBytes> signature{};
  bool operator==(const Header&) const = default;

  bool has(uint32_t flag) const { return (flags & flag) != 0; }
  uint16_t channel_sequence() const { return static_cast<uint16_t>(status); }

  template <class Io>
  void fields(Io& io) {
    io.constant(kProtocol);
    io.constant(static_cast<uint16_t>(kHeaderBytes));
    io(credit_charge, status, command, credits, flags, next_command, message_id);
    if (has(header_flag::kAsync)) {
      io(async_id);
    } else {
      io(process_id, tree_id);
    }
    io(session_id, signature);
  }

 private:
  static constexpr uint32_t kProtocol = 0x424D53FE;
};

// Of the reply to this request: the same ids and charge, marked as a reply, granting nothing yet.
Header reply_header(const Header& request, Status status);

// One message of a frame. The views point into the frame.
struct Message {
  Header header;
  std::string_view bytes;  // From the header up to the next one, padding included.
};
// Nothing, and the connection ends, when the frame is not a chain of whole headers.
std::optional<std::vector<Message>> split_chain(std::string_view frame);
// Makes these messages a chain: pads all but the last and tells each where the next one begins. To
// be done before they are signed, since signatures cover the padding.
void link_chain(std::span<std::string> messages);

// The body of a message that begins with its header: the fixed size that each kind of body has and
// then its fields. A body of another size is of another kind: INVALID_PARAMETER.
template <class Body>
Result<Body, Status> decode(std::string_view message) {
  Reader reader(message, std::min(kHeaderBytes, message.size()));
  reader.constant(Body::kStructureSize);
  Body body;
  reader(body);
  if (!reader.ok()) return reader.status();
  return body;
}

template <class Body>
std::string encode(const Header& header, const Body& body) {
  std::string message;
  Writer writer(message);
  writer(header);
  writer.constant(Body::kStructureSize);
  writer(body);
  // An odd size tells that at least a byte follows, on which servers insist and clients do not.
  const bool lacks_byte = message.size() + 1 == kHeaderBytes + Body::kStructureSize;
  if (lacks_byte && Body::kStructureSize % 2 != 0 && !header.has(header_flag::kReply))
    writer.reserved(1);
  return message;
}

// A body without anything in it, which several commands have.
struct EmptyBody {
  static constexpr uint16_t kStructureSize = 4;
  bool operator==(const EmptyBody&) const = default;
  template <class Io>
  void fields(Io& io) {
    io.reserved(2);
  }
};

// The body of replies that only have a status. Data goes with few of them: four bytes with the size
// needed for BUFFER_TOO_SMALL.
struct ErrorReply {
  static constexpr uint16_t kStructureSize = 9;
  bool in_context = false;  // Data of dialect 3.1.1 is wrapped once more.
  std::string_view data;

  template <class Io>
  void fields(Io& io) {
    uint8_t contexts = in_context && !data.empty() ? 1 : 0;
    Later<uint32_t> bytes;
    io(contexts);
    io.reserved(1);
    io(bytes);
    if constexpr (Io::kReading) {
      io.following(bytes, data);
      in_context = contexts != 0;
      if (in_context) data.remove_prefix(std::min(data.size(), kContextBytes));
    } else {
      io.fill(bytes, data.size() + (contexts != 0 ? kContextBytes : 0));
      if (contexts != 0) {
        io(static_cast<uint32_t>(data.size()));
        io.reserved(4);
      }
      io.rest(data);
      if (data.empty()) io.reserved(1);
    }
  }

 private:
  static constexpr size_t kContextBytes = 8;
};

// Before an encrypted frame.
struct TransformHeader {
  std::array<char, kSignatureBytes> signature{};
  std::array<char, 16> nonce{};
  uint32_t message_bytes = 0;
  uint16_t flags = 1;  // Encrypted; in 3.0 the number of AES-128-CCM.
  uint64_t session_id = 0;
  bool operator==(const TransformHeader&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.constant(kProtocol);
    io(signature, nonce, message_bytes);
    io.reserved(2);
    io(flags, session_id);
  }

 private:
  static constexpr uint32_t kProtocol = 0x424D53FD;
};
// Nothing, and the connection ends, unless exactly as many bytes follow as the header says.
std::optional<TransformHeader> read_transform(std::string_view frame);

// The first frame of clients that also speak SMB1 lists dialects as text. The answer is the reply
// to a default Header, which is a NEGOTIATE with message id 0: a NegotiateReply of
// Dialect::kWildcard, upon which the client negotiates anew.
struct MultiProtocolHello {
  bool smb2_002 = false;       // "SMB 2.002"
  bool smb2_wildcard = false;  // "SMB 2.???"
};
std::optional<MultiProtocolHello> read_smb1_hello(std::string_view frame);

}  // namespace kyanite::smb
