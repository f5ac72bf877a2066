// The contexts of CREATE and NEGOTIATE by themselves, without the messages that fuzzing would have
// to get right first. The first byte chooses.
#include "base/check.h"
#include "smb/create.h"
#include "smb/negotiate.h"

namespace kyanite::smb {
namespace {

template <class Contexts>
void try_create(std::string_view bytes) {
  const auto contexts = Contexts::decode(bytes);
  if (!contexts) return;
  const std::string out = contexts->encode();
  const auto again = Contexts::decode(out);
  CHECK(again && *again == *contexts);
}

// How many there are is the first byte.
void try_negotiate(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto count = static_cast<uint16_t>(static_cast<uint8_t>(bytes[0]));
  NegotiateContexts contexts;
  Reader reader(bytes.substr(1));
  contexts.read(reader, 0, count);
  if (!reader.ok()) return;
  CHECK(contexts.preauth);
  std::string out;
  Writer writer(out);
  Later<uint32_t> offset;
  Later<uint16_t> written;
  writer(offset, written);
  contexts.write(writer, offset, written);
  Reader back(out);
  back(offset, written);
  NegotiateContexts again;
  again.read(back, offset.value, written.value);
  CHECK(back.ok() && again == contexts);
}

}  // namespace
}  // namespace kyanite::smb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::smb;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      try_create<CreateContexts>(bytes);
      break;
    case 1:
      try_create<CreateReplyContexts>(bytes);
      break;
    default:
      try_negotiate(bytes);
  }
  return 0;
}
