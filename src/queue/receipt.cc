#include "queue/receipt.h"

#include "base/bytes.h"

namespace kyanite::queue {

namespace {
// mark (7 bytes) | lane | visible, big endian | number, big endian
constexpr std::string_view kMark("\x03\0\0\0KY1", 7);
constexpr size_t kReceiptBytes = 24;
// The shortest receipt that any server of this protocol is known to give.
constexpr size_t kLeastBytes = 20;
}  // namespace

std::string Receipt::text() const {
  std::string bytes(kMark);
  bytes += static_cast<char>(lane);
  append_be64(bytes, static_cast<uint64_t>(visible.ticks));
  append_be64(bytes, number);
  return base64(bytes);
}

bool Receipt::has_length(std::string_view text) {
  const auto bytes = unbase64(text);
  return bytes && bytes->size() >= kLeastBytes;
}

wire::Error Receipt::malformed(std::string_view text) {
  return wire::invalid_query("popreceipt", text, "Invalid pop receipt format");
}

wire::Result<std::optional<Receipt>> Receipt::parse(std::string_view text) {
  const auto bytes = unbase64(text);
  if (!bytes || bytes->empty()) return malformed(text);
  if (bytes->size() != kReceiptBytes || !bytes->starts_with(kMark)) return std::optional<Receipt>();
  const char* at = bytes->data() + kMark.size();
  Receipt receipt;
  receipt.lane = static_cast<Lane>(*at);
  receipt.visible.ticks = static_cast<int64_t>(read_be64(at + 1));
  receipt.number = read_be64(at + 1 + sizeof(uint64_t));
  if (receipt.lane != Lane::kReady && receipt.lane != Lane::kHidden)
    return std::optional<Receipt>();
  return std::optional<Receipt>(receipt);
}

}  // namespace kyanite::queue
