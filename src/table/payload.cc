#include "table/payload.h"

#include <algorithm>

#include "base/bytes.h"
#include "wire/date.h"
#include "wire/readable.h"

namespace kyanite::table {

namespace {
using service::Call;
using wire::Code;

// The level a media type names; nothing when it is not one of JSON.
std::optional<Metadata> level_of(std::string_view media_type) {
  const size_t semicolon = media_type.find(';');
  const std::string_view type = trim(media_type.substr(0, semicolon));
  const bool any = type == "*/*" || type == "application/*";
  if (!any && !equals_ignoring_case(type, "application/json") &&
      !equals_ignoring_case(type, "json"))
    return {};
  std::string_view rest =
      semicolon == std::string_view::npos ? std::string_view() : media_type.substr(semicolon + 1);
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    const std::string parameter = ascii_lower(trim(rest.substr(0, end)));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (parameter == "odata=nometadata") return Metadata::kNone;
    if (parameter == "odata=minimalmetadata") return Metadata::kMinimal;
    if (parameter == "odata=fullmetadata") return Metadata::kFull;
    if (parameter == "odata=verbose") return {};
  }
  return Metadata::kMinimal;
}

wire::Error not_supported(std::string_view format) {
  const bool atom =
      format.find("atom") != std::string_view::npos || format.find("xml") != std::string_view::npos;
  return wire::Error(atom ? Code::kAtomFormatNotSupported : Code::kMediaTypeNotSupported);
}

// The service forbids caching, and heeds preferences, only of what it began to execute.
bool precedes_execution(const Call& call, Code code) {
  if (code == Code::kInvalidInput || code == Code::kTableNotFound ||
      code == Code::kNoAuthenticationInformation) {
    return true;
  }
  const bool name = code == Code::kInvalidResourceName || code == Code::kOutOfRangeInput;
  return name && call.target.level != auth::Level::kTables;
}
}  // namespace

wire::Result<Metadata> decode_metadata_level(const Call& call) {
  if (const auto format = call.query.find("$format")) {
    if (const auto level = level_of(*format)) return *level;
    return not_supported(*format);
  }
  const std::string_view accept = call.headers().get("Accept");
  if (accept.empty()) return Metadata::kMinimal;
  for (const std::string_view type : split_list(accept)) {
    if (const auto level = level_of(type)) return *level;
  }
  return not_supported(accept);
}

wire::Result<void> check_content_type(const Call& call) {
  const std::string_view type = call.headers().get("Content-Type");
  if (type.empty() || level_of(type)) return {};
  return not_supported(type);
}

std::string_view content_type(Metadata metadata) {
  switch (metadata) {
    case Metadata::kNone:
      return "application/json;odata=nometadata;streaming=true;charset=utf-8";
    case Metadata::kMinimal:
      return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    case Metadata::kFull:
      return "application/json;odata=fullmetadata;streaming=true;charset=utf-8";
  }
  return "";
}

http::Reply json_reply(int status, Metadata metadata, std::string body) {
  http::Reply reply(status);
  reply.header("X-Content-Type-Options", "nosniff").header("Cache-Control", "no-cache");
  reply.header("Content-Type", content_type(metadata));
  reply.body = std::move(body);
  return reply;
}

http::Reply empty_reply() {
  http::Reply reply(204);
  reply.header("X-Content-Type-Options", "nosniff").header("Cache-Control", "no-cache");
  return reply;
}

Preference decode_preference(const Call& call) {
  for (const std::string_view word : split_list(call.headers().get("Prefer"))) {
    if (equals_ignoring_case(word, "return-no-content")) return Preference::kReturnNoContent;
    if (equals_ignoring_case(word, "return-content")) return Preference::kReturnContent;
  }
  return Preference::kUnstated;
}

void encode_preference(http::Reply& reply, Preference preference) {
  if (preference == Preference::kReturnContent)
    reply.header("Preference-Applied", "return-content");
  if (preference == Preference::kReturnNoContent)
    reply.header("Preference-Applied", "return-no-content");
}

void render_json_error(const Call& call, const wire::Error& error, http::Reply& reply) {
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().key("odata.error").begin_object();
  json.member("code", wire::name(error.code)).key("message").begin_object();
  json.member("lang", "en-US");
  json.member("value", wire::readable(error.message) + "\nRequestId:" + call.request_id +
                           "\nTime:" + wire::iso_date(call.now).str());
  json.end_object().end_object().end_object();
  reply.header("X-Content-Type-Options", "nosniff");
  if (!precedes_execution(call, error.code)) {
    reply.header("Cache-Control", "no-cache");
    encode_preference(reply, decode_preference(call));
  }
  reply.header("Content-Type", content_type(Metadata::kMinimal));
  reply.body = std::move(body);
}

bool speaks_xml(const Call& call) {
  return call.query.has("restype") || equals_ignoring_case(call.query.get("comp"), "acl");
}

wire::Result<size_t> decode_top(const Call& call, size_t most) {
  const auto text = call.query.find("$top");
  if (!text) return most;
  const auto top = parse_uint(*text);
  if (!top || *top > most) return wire::Error(Code::kInvalidInput);
  return static_cast<size_t>(*top);
}

wire::Result<void> check_query_options(const Call& call) {
  static constexpr std::string_view kRefused[] = {"$orderby", "$skip",        "$skiptoken",
                                                  "$expand",  "$inlinecount", "$count"};
  for (const auto& parameter : call.query) {
    if (!parameter.name.starts_with('$')) continue;
    for (const std::string_view refused : kRefused) {
      if (equals_ignoring_case(parameter.name, refused)) return wire::Error(Code::kNotImplemented);
    }
  }
  return {};
}

std::string encode_token(std::string_view key) {
  std::string text = base64(key);
  std::replace(text.begin(), text.end(), '=', '-');
  return "1!" + std::to_string(text.size()) + "!" + text;
}

std::optional<std::string> decode_token(std::string_view token) {
  if (!token.starts_with("1!")) return {};
  token.remove_prefix(2);
  const size_t mark = token.find('!');
  if (mark == std::string_view::npos) return {};
  const auto length = parse_uint(token.substr(0, mark));
  std::string text(token.substr(mark + 1));
  if (!length || *length != text.size()) return {};
  std::replace(text.begin(), text.end(), '-', '=');
  return unbase64(text);
}

}  // namespace kyanite::table
