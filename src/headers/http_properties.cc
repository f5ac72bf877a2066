#include "headers/http_properties.h"

#include <utility>

#include "base/bytes.h"
#include "wire/readable.h"
#include "wire/xml.h"

namespace kyanite::headers {

namespace {
constexpr size_t kMd5Bytes = 16;
}

wire::Result<std::string> decode_md5(const service::Call& call, std::string_view header) {
  const auto text = call.headers().find(header);
  if (!text || text->empty()) return std::string();
  auto digest = unbase64(*text);
  if (!digest || digest->size() != kMd5Bytes) return wire::Error(wire::Code::kInvalidMd5);
  return *digest;
}

wire::Result<std::string> decode_shown(const service::Call& call, std::string_view header) {
  const std::string_view text = call.headers().get(header);
  if (!wire::xml_can_hold(text)) return wire::invalid_header(header, text);
  return std::string(text);
}

wire::Result<HttpProperties> decode_http_properties(const service::Call& call,
                                                    const HttpPropertyHeaders& names) {
  HttpProperties properties;
  const std::pair<std::string_view, std::string*> shown[] = {
      {names.content_type, &properties.content_type},
      {names.content_encoding, &properties.content_encoding},
      {names.content_language, &properties.content_language},
      {names.content_disposition, &properties.content_disposition},
      {names.cache_control, &properties.cache_control}};
  for (const auto& [header, value] : shown) {
    auto text = decode_shown(call, header);
    if (!text) return text.error();
    *value = std::move(*text);
  }
  const auto text = call.headers().get(names.content_md5);
  auto md5 = unbase64(text);
  if (!md5 || (!names.any_md5 && !text.empty() && md5->size() != kMd5Bytes))
    return wire::Error(wire::Code::kInvalidMd5);
  properties.content_md5 = std::move(*md5);
  return properties;
}

HttpProperties foreign_properties(const http::Headers& headers) {
  HttpProperties http;
  http.content_type = wire::readable(headers.get("Content-Type"));
  http.content_encoding = wire::readable(headers.get("Content-Encoding"));
  http.content_language = wire::readable(headers.get("Content-Language"));
  http.content_disposition = wire::readable(headers.get("Content-Disposition"));
  http.cache_control = wire::readable(headers.get("Cache-Control"));
  if (auto md5 = unbase64(headers.get("Content-MD5")); md5 && md5->size() == kMd5Bytes)
    http.content_md5 = std::move(*md5);
  return http;
}

namespace {
void encode_one(http::Reply& reply, std::string_view header, const std::string& stored,
                const std::string& override_value) {
  const std::string& value = override_value.empty() ? stored : override_value;
  if (!value.empty()) reply.header(header, value);
}
}  // namespace

void encode_http_properties(http::Reply& reply, const service::Call& call,
                            const HttpProperties& http) {
  const auto& overrides = call.caller.overrides;
  encode_one(reply, "Content-Type", http.content_type, overrides.content_type);
  encode_one(reply, "Content-Encoding", http.content_encoding, overrides.content_encoding);
  encode_one(reply, "Content-Language", http.content_language, overrides.content_language);
  encode_one(reply, "Content-Disposition", http.content_disposition, overrides.content_disposition);
  encode_one(reply, "Cache-Control", http.cache_control, overrides.cache_control);
}

}  // namespace kyanite::headers
