// A frame as it is received: whatever is accepted reads back the same from what is written of it.
#include "base/check.h"
#include "smb/directory.h"
#include "smb/frame.h"
#include "smb/info.h"
#include "smb/ioctl.h"
#include "smb/requests.h"

namespace kyanite::smb {
namespace {

template <class Input>
void try_input(std::string_view bytes) {
  const auto input = decode_input<Input>(bytes);
  if (!input) return;
  std::string out;
  append_fields(out, *input);
  const auto again = decode_input<Input>(out);
  CHECK(again && *again == *input);
}

void try_control(const IoctlRequest& request) {
  switch (request.control) {
    case Control::kValidateNegotiate:
      return try_input<ValidateNegotiateRequest>(request.input);
    case Control::kCopyChunk:
    case Control::kCopyChunkWrite: {
      const auto copy = decode_input<CopyChunkRequest>(request.input);
      CHECK(!copy || copy->chunks.size() <= kMaxChunks);
      return;
    }
    case Control::kSetCompression:
      return try_input<CompressionFormat>(request.input);
    case Control::kSetZeroData:
      return try_input<ZeroDataRequest>(request.input);
    case Control::kQueryAllocatedRanges:
      return try_input<Range>(request.input);
    default:
      name(request.control);
      refusal_of(request.control);
  }
}

template <class Info>
void try_info(std::string_view bytes) {
  const auto info = decode_info<Info>(bytes);
  if (!info) return;
  const auto output = encode_info(*info, bytes.size() + Info::kLeast);
  const auto again = decode_info<Info>(output.bytes + std::string(Info::kLeast, '\0'));
  CHECK(again && *again == *info);
}

void try_set_info(const SetInfoRequest& request) {
  switch (static_cast<FileClass>(request.info_class)) {
    case FileClass::kBasic:
      return try_info<BasicInfo>(request.input);
    case FileClass::kRename:
      return try_info<RenameInfo>(request.input);
    case FileClass::kRenameEx:
      return try_info<RenameExInfo>(request.input);
    case FileClass::kDisposition:
      return try_info<DispositionInfo>(request.input);
    case FileClass::kDispositionEx:
      return try_info<DispositionExInfo>(request.input);
    case FileClass::kAllocation:
      return try_info<AllocationInfo>(request.input);
    case FileClass::kEndOfFile:
      return try_info<EndOfFileInfo>(request.input);
    case FileClass::kPosition:
      return try_info<PositionInfo>(request.input);
    case FileClass::kMode:
      return try_info<ModeInfo>(request.input);
    default:
      // What a server answers is read by nobody but tests and load tools, which is reason enough.
      read_directory(request.input, static_cast<FileClass>(request.info_class));
      read_notifications(request.input);
  }
}

template <class Request>
void try_request(const Message& message) {
  const auto request = decode<Request>(message.bytes);
  if (!request) {
    CHECK(request.error() != Status::kSuccess);
    return;
  }
  const std::string out = encode(message.header, *request);
  const auto again = decode<Request>(out);
  CHECK(again && *again == *request);
  if constexpr (std::is_same_v<Request, IoctlRequest>) try_control(*request);
  if constexpr (std::is_same_v<Request, SetInfoRequest>) try_set_info(*request);
}

void try_frame(std::string_view frame) {
  switch (kind_of(frame)) {
    case FrameKind::kSealed:
      read_transform(frame);
      return;
    case FrameKind::kSmb1:
      read_smb1_hello(frame);
      return;
    case FrameKind::kCompressed:
    case FrameKind::kOther:
      return;
    case FrameKind::kMessages:
      break;
  }
  const auto messages = split_chain(frame);
  if (!messages) return;
  CHECK(!messages->empty() && messages->size() <= kMaxChain);
  size_t total = 0;
  for (const Message& message : *messages) {
    total += message.bytes.size();
    name(message.header.command);
    visit_request_type(message, [&]<class Request>(std::type_identity<Request>) {
      try_request<Request>(message);
    });
  }
  CHECK(total == frame.size());
}

}  // namespace
}  // namespace kyanite::smb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kyanite::smb::try_frame({reinterpret_cast<const char*>(data), size});
  return 0;
}
