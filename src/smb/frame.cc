#include "smb/frame.h"

#include <algorithm>

namespace kyanite::smb {

Prefix read_prefix(const std::array<char, kPrefixBytes>& prefix, size_t most_bytes) {
  constexpr char kSessionMessage = 0;
  constexpr char kSessionKeepAlive = '\x85';
  size_t bytes = 0;
  for (size_t i = 1; i < kPrefixBytes; ++i) bytes = bytes << 8 | static_cast<uint8_t>(prefix[i]);
  if (prefix[0] == kSessionKeepAlive && bytes == 0) return {Prefix::kKeepAlive, 0};
  if (prefix[0] != kSessionMessage || bytes > most_bytes) return {};
  return {Prefix::kFrame, bytes};
}

std::array<char, kPrefixBytes> make_prefix(size_t frame_bytes) {
  CHECK(frame_bytes <= kMaxFrameBytes);
  return {0, static_cast<char>(frame_bytes >> 16), static_cast<char>(frame_bytes >> 8),
          static_cast<char>(frame_bytes)};
}

FrameKind kind_of(std::string_view frame) {
  if (frame.size() < 4 || frame.substr(1, 3) != "SMB") return FrameKind::kOther;
  switch (static_cast<uint8_t>(frame[0])) {
    case 0xFE:
      return FrameKind::kMessages;
    case 0xFD:
      return FrameKind::kSealed;
    case 0xFC:
      return FrameKind::kCompressed;
    case 0xFF:
      return FrameKind::kSmb1;
    default:
      return FrameKind::kOther;
  }
}

Header reply_header(const Header& request, Status status) {
  Header reply = request;
  reply.status = status;
  reply.credits = 0;
  reply.flags =
      (request.flags & (header_flag::kRelated | header_flag::kPriorityMask)) | header_flag::kReply;
  reply.next_command = 0;
  reply.async_id = 0;
  reply.signature = {};
  return reply;
}

std::optional<std::vector<Message>> split_chain(std::string_view frame) {
  std::vector<Message> messages;
  while (true) {
    if (messages.size() == kMaxChain) return {};
    Message& message = messages.emplace_back();
    Reader reader(frame);
    reader(message.header);
    if (!reader.ok()) return {};
    const size_t next = message.header.next_command;
    message.bytes = next == 0 ? frame : frame.substr(0, next);
    if (next == 0) return messages;
    if (next % kChainAlignment != 0 || next < kHeaderBytes || next >= frame.size()) return {};
    frame.remove_prefix(next);
  }
}

void link_chain(std::span<std::string> messages) {
  constexpr size_t kNextCommandOffset = 20;
  for (size_t i = 0; i + 1 < messages.size(); ++i) {
    Writer writer(messages[i], 0);
    writer.pad_to(kChainAlignment);
    writer.fill(Later<uint32_t>{0, kNextCommandOffset}, messages[i].size());
  }
}

std::optional<TransformHeader> read_transform(std::string_view frame) {
  Reader reader(frame);
  TransformHeader header;
  reader(header);
  if (!reader.ok() || header.message_bytes != frame.size() - kTransformBytes) return {};
  return header;
}

std::optional<MultiProtocolHello> read_smb1_hello(std::string_view frame) {
  constexpr uint32_t kSmb1Protocol = 0x424D53FF;
  constexpr uint8_t kSmb1Negotiate = 0x72;
  constexpr size_t kAfterCommand = 27;  // The rest of its header says nothing to us.
  constexpr char kDialectText = 2;      // Before each dialect, which ends with a NUL.
  Reader reader(frame);
  Later<uint16_t> bytes;
  std::string_view dialects;
  reader.constant(kSmb1Protocol);
  reader.constant(kSmb1Negotiate);
  reader.reserved(kAfterCommand);
  reader.constant(uint8_t{0});  // Words of parameters.
  reader(bytes);
  reader.following(bytes, dialects);
  if (!reader.ok()) return {};
  MultiProtocolHello hello;
  while (!dialects.empty()) {
    const size_t end = dialects.find('\0');
    if (dialects[0] != kDialectText || end == std::string_view::npos) return {};
    const std::string_view dialect = dialects.substr(1, end - 1);
    hello.smb2_002 |= dialect == "SMB 2.002";
    hello.smb2_wildcard |= dialect == "SMB 2.???";
    dialects.remove_prefix(end + 1);
  }
  return hello;
}

}  // namespace kyanite::smb
