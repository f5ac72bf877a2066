#include "engine/codec.h"

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::engine {

namespace {

constexpr char kVersion = 1;
constexpr size_t kLeastRefBytes = 7;

// Moves `in` to the value. `see` is called with every ref.
template <class See>
bool read_head(std::string_view& in, See see) {
  if (in.empty() || in.front() != kVersion) return false;
  in.remove_prefix(1);
  uint64_t count = 0;
  if (!read_varint(in, count) || count > in.size() / kLeastRefBytes) return false;
  for (; count > 0; --count) {
    store::Ref ref;
    uint64_t page = 0;
    uint64_t length = 0;
    if (!read_varint(in, ref.extent) || !read_varint(in, page) || !read_varint(in, length) ||
        in.size() < 4 || page > UINT64_MAX / kRunAlignment || length > store::kMaxRunBytes) {
      return false;
    }
    ref.offset = page * kRunAlignment;
    ref.length = static_cast<uint32_t>(length);
    ref.crc32c = read_le32(in.data());
    in.remove_prefix(4);
    see(ref);
  }
  return true;
}

std::optional<std::vector<store::Ref>> read_refs(std::string_view& in) {
  std::vector<store::Ref> refs;
  if (!read_head(in, [&](const store::Ref& ref) { refs.push_back(ref); })) return std::nullopt;
  return refs;
}

}  // namespace

std::string encode_head(const std::vector<store::Ref>& refs) {
  std::string head(1, kVersion);
  append_varint(head, refs.size());
  for (const auto& ref : refs) {
    CHECK(ref.offset % kRunAlignment == 0);
    append_varint(head, ref.extent);
    append_varint(head, ref.offset / kRunAlignment);
    append_varint(head, ref.length);
    append_le32(head, ref.crc32c);
  }
  return head;
}

std::optional<store::Record> decode_record(std::string_view bytes) {
  auto refs = read_refs(bytes);
  if (!refs || bytes.empty()) return std::nullopt;
  return store::Record{std::string(bytes), std::move(*refs)};
}

std::optional<std::string_view> decode_value(std::string_view bytes) {
  // Without refs, as most are.
  if (bytes.size() > 2 && bytes[0] == kVersion && bytes[1] == 0) return bytes.substr(2);
  const bool whole = read_head(bytes, [](const store::Ref&) {});
  if (!whole || bytes.empty()) return std::nullopt;
  return bytes;
}

std::optional<std::vector<store::Ref>> decode_refs(std::string_view bytes) {
  return read_refs(bytes);
}

}  // namespace kyanite::engine
