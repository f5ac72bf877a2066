#include "smb/negotiate.h"

namespace kyanite::smb {

namespace {

enum class ContextType : uint16_t { kPreauth = 1, kEncryption = 2, kNetName = 5, kSigning = 8 };

template <class T>
void read_once(Reader& io, std::optional<T>& slot, std::string_view data) {
  if (slot) return io.fail();
  Reader reader(data);
  reader(slot.emplace());
  if (!reader.ok()) io.fail();
}

template <class T>
void append_context(Writer& io, size_t& count, ContextType type, const T& data) {
  Later<uint16_t> bytes;
  io.pad_to(kContextAlignment);
  io(type, bytes);
  io.reserved(4);
  const size_t begin = io.size();
  if constexpr (std::is_same_v<T, std::string_view>) {
    io.rest(data);
  } else {
    io(data);
  }
  io.fill(bytes, io.size() - begin);
  ++count;
}

}  // namespace

void NegotiateContexts::read(Reader& io, uint32_t offset, uint16_t count) {
  if (count > kMaxNegotiateContexts) return io.fail();
  io.seek(offset);
  for (uint16_t i = 0; i < count && io.ok(); ++i) {
    ContextType type{};
    Later<uint16_t> bytes;
    std::string_view data;
    if (i > 0) io.skip_to_multiple_of(kContextAlignment);
    io(type, bytes);
    io.reserved(4);
    io.following(bytes, data);
    switch (type) {
      case ContextType::kPreauth:
        read_once(io, preauth, data);
        break;
      case ContextType::kEncryption:
        read_once(io, ciphers, data);
        break;
      case ContextType::kSigning:
        read_once(io, signing, data);
        break;
      case ContextType::kNetName:
        net_name = data;
        break;
    }
  }
  if (!preauth) io.fail();
}

void NegotiateContexts::write(Writer& io, const Later<uint32_t>& offset,
                              const Later<uint16_t>& context_count) const {
  size_t count = 0;
  io.pad_to(kContextAlignment);
  io.fill(offset, io.size());
  if (preauth) append_context(io, count, ContextType::kPreauth, *preauth);
  if (ciphers) append_context(io, count, ContextType::kEncryption, *ciphers);
  if (signing) append_context(io, count, ContextType::kSigning, *signing);
  if (!net_name.empty()) append_context(io, count, ContextType::kNetName, net_name);
  io.fill(context_count, count);
}

}  // namespace kyanite::smb
