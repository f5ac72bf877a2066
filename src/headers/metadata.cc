#include "headers/metadata.h"

#include "base/bytes.h"
#include "headers/identifier.h"

namespace kyanite::headers {

namespace {
constexpr std::string_view kPrefix = "x-ms-meta-";
}  // namespace

wire::Result<Metadata> decode_metadata(const http::Headers& headers) {
  Metadata metadata;
  size_t bytes = 0;
  for (const auto& header : headers) {
    if (header.name.size() < kPrefix.size() ||
        !equals_ignoring_case(header.name.substr(0, kPrefix.size()), kPrefix)) {
      continue;
    }
    const std::string_view name = header.name.substr(kPrefix.size());
    if (name.empty()) {
      return wire::Error(wire::Code::kEmptyMetadataKey).with("MetadataValue", header.value);
    }
    if (!is_identifier(name)) return wire::Error(wire::Code::kInvalidMetadata);
    for (const auto& [other, value] : metadata) {
      if (equals_ignoring_case(other, name)) return wire::Error(wire::Code::kInvalidMetadata);
    }
    // Listings carry it in XML, which one unreadable value would spoil for the whole container.
    if (!wire::xml_can_hold(header.value)) return wire::Error(wire::Code::kInvalidMetadata);
    bytes += name.size() + header.value.size();
    metadata.emplace_back(name, header.value);
  }
  if (bytes > kMaxMetadataBytes) return wire::Error(wire::Code::kMetadataTooLarge);
  return metadata;
}

void encode_metadata(http::Reply& reply, const Metadata& metadata) {
  std::string name(kPrefix);
  for (const auto& [key, value] : metadata) {
    name.resize(kPrefix.size());
    name += key;
    reply.header(name, value);
  }
}

void write_metadata(wire::XmlWriter& xml, const Metadata& metadata) {
  xml.open("Metadata");
  for (const auto& [key, value] : metadata) xml.element(key, value);
  xml.close("Metadata");
}

}  // namespace kyanite::headers
