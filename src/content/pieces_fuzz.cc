// Whatever bytes decode as pieces lie end to end within their runs, and encode and decode to the
// same again.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "content/content.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  if (size == 0) return 0;
  store::Record record;
  // The first byte tells how many refs the record has.
  for (uint64_t i = 0; i < data[0] % 8u; ++i)
    record.refs.push_back({1, i * 1000, static_cast<uint32_t>(1 + i * 100), 0});
  record.value.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto pieces = content::decode_pieces(record);
  if (!pieces) return 0;

  uint64_t offset = pieces->empty() ? 0 : pieces->front().offset;
  for (const auto& piece : *pieces) {
    CHECK(piece.offset == offset);
    offset += piece.length;
    CHECK(offset >= piece.offset);
    if (piece.ref) {
      CHECK(uint64_t{piece.skip} + piece.length <= piece.ref->length);
    } else {
      CHECK(piece.is_zeros() || piece.inline_bytes.size() == piece.length);
    }
  }
  CHECK(pieces->empty() || content::length_of(*pieces) == offset);

  store::Record again;
  content::encode_pieces(*pieces, again);
  const auto same = content::decode_pieces(again);
  CHECK(same && same->size() == pieces->size());
  for (size_t i = 0; i < same->size(); ++i) {
    CHECK((*same)[i].offset == (*pieces)[i].offset && (*same)[i].length == (*pieces)[i].length);
    CHECK((*same)[i].ref == (*pieces)[i].ref && (*same)[i].skip == (*pieces)[i].skip);
    CHECK((*same)[i].inline_bytes == (*pieces)[i].inline_bytes);
    CHECK((*same)[i].seal == (*pieces)[i].seal);
  }
  return 0;
}
