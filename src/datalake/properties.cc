#include "datalake/properties.h"

#include "base/bytes.h"
#include "headers/identifier.h"
#include "wire/xml.h"

namespace kyanite::datalake {

namespace {

constexpr std::string_view kHeader = "x-ms-properties";

}  // namespace

wire::Result<std::optional<headers::Metadata>> decode_properties(const service::Call& call) {
  const auto text = call.headers().find(kHeader);
  if (!text) return std::optional<headers::Metadata>();
  headers::Metadata metadata;
  std::string_view rest = trim(*text);
  size_t bytes = 0;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view pair = trim(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string_view name = trim(pair.substr(0, equals));
    if (name.empty()) return wire::Error(wire::Code::kInvalidPropertyName);
    // To the Blob API it is metadata, so the same rules hold for it (headers/metadata.cc).
    if (!headers::is_identifier(name)) {
      return wire::Error(wire::Code::kInvalidPropertyName)
          .saying("The property name contains invalid characters.");
    }
    const auto value = equals == std::string_view::npos ? std::optional<std::string>()
                                                        : unbase64(trim(pair.substr(equals + 1)));
    if (!value || !wire::xml_can_hold(*value)) return wire::invalid_header(kHeader, *text);
    bytes += name.size() + value->size();
    if (bytes > headers::kMaxMetadataBytes) return wire::Error(wire::Code::kMetadataTooLarge);
    for (const auto& [other, ignored] : metadata) {
      if (equals_ignoring_case(other, name)) return wire::invalid_header(kHeader, *text);
    }
    metadata.emplace_back(std::string(name), *value);
  }
  return std::optional<headers::Metadata>(std::move(metadata));
}

std::string encode_properties(const headers::Metadata& metadata) {
  std::string text;
  for (const auto& [name, value] : metadata) {
    if (!text.empty()) text += ',';
    text += name;
    text += '=';
    text += base64(value);
  }
  return text;
}

}  // namespace kyanite::datalake
