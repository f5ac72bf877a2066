#include "datalake/listing.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "wire/crc64.h"

namespace kyanite::datalake {

namespace {

// A continuation is the base64 of a checksum, a zero, and the first name to list. Clients make some
// of their own, to begin where they like.
constexpr std::string_view kZero = " 0 ";

std::string checksum(std::string_view name) {
  const uint64_t crc = wire::crc64(0, std::string(name) + "#$0");
  return std::to_string(static_cast<int64_t>(crc));
}

}  // namespace

std::string continuation_of(std::string_view name) {
  return base64(checksum(name).append(kZero).append(name));
}

std::optional<std::string> decode_continuation(std::string_view text) {
  const auto token = unbase64(text);
  if (!token) return std::nullopt;
  const size_t zero = token->find(kZero);
  if (zero == std::string::npos) return std::nullopt;
  std::string name = token->substr(zero + kZero.size());
  if (token->substr(0, zero) != checksum(name)) return std::nullopt;
  return name;
}

wire::Result<Page> decode_page(const service::Call& call) {
  Page page;
  if (const auto text = call.query.find("maxResults"); text && !text->empty()) {
    const auto most = parse_uint(*text);
    if (!most || *most == 0) return wire::invalid_query("maxResults", *text);
    page.most = std::min(*most, transfer::kMaxListResults);
  }
  if (const auto text = call.query.find("continuation"); text && !text->empty()) {
    auto start = decode_continuation(*text);
    if (!start) return wire::invalid_query("continuation", *text);
    page.start = std::move(*start);
  }
  return page;
}

void encode_continuation(http::Reply& reply, std::string_view next) {
  if (next.empty()) return;
  reply.header("x-ms-continuation", continuation_of(next));
}

}  // namespace kyanite::datalake
