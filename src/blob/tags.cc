#include "blob/tags.h"

#include <algorithm>
#include <pugixml.hpp>

#include "account/xml_error.h"
#include "base/bytes.h"
#include "blob/tag_query.h"
#include "wire/query.h"

namespace kyanite::blob {

using wire::Code;

namespace {

bool is_tag_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(" +-./:=_").find(c) != std::string_view::npos;
}

wire::Result<void> check_tags(const Tags& tags) {
  if (tags.size() > kMaxTags) return wire::Error(Code::kTagsTooLarge);
  for (size_t i = 0; i < tags.size(); ++i) {
    const auto& [key, value] = tags[i];
    if (key.empty()) return wire::Error(Code::kEmptyTagName);
    if (key.size() > kMaxTagKey || value.size() > kMaxTagValue)
      return wire::Error(Code::kTagsTooLarge);
    for (char c : key + value) {
      if (!is_tag_character(c)) return wire::Error(Code::kInvalidTag);
    }
    for (size_t j = 0; j < i; ++j) {
      if (tags[j].first == key) return wire::Error(Code::kDuplicateTagNames);
    }
  }
  return {};
}

// Tags are kept in the order of their names.
wire::Result<Tags> checked(Tags tags) {
  if (auto valid = check_tags(tags); !valid) return valid.error();
  std::sort(tags.begin(), tags.end());
  return tags;
}

}  // namespace

wire::Result<Tags> decode_tags(const service::Call& call) {
  Tags tags;
  std::string_view rest = call.headers().get("x-ms-tags");
  while (!rest.empty()) {
    const size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos)
      return wire::invalid_header("x-ms-tags", call.headers().get("x-ms-tags"));
    auto key = wire::form_decode(pair.substr(0, equals));
    auto value = wire::form_decode(pair.substr(equals + 1));
    if (!key || !value) return wire::invalid_header("x-ms-tags", call.headers().get("x-ms-tags"));
    tags.emplace_back(std::move(*key), std::move(*value));
  }
  return checked(std::move(tags));
}

wire::Result<Tags> parse_tags(std::string_view xml) {
  pugi::xml_document document;
  if (const auto parsed = document.load_buffer(xml.data(), xml.size(),
                                               pugi::parse_default | pugi::parse_ws_pcdata_single);
      !parsed) {
    return account::invalid_xml(xml, static_cast<size_t>(parsed.offset));
  }
  const auto set = document.child("Tags").child("TagSet");
  if (!set) return account::invalid_xml(xml, 0);
  Tags tags;
  for (const auto& tag : set.children("Tag")) {
    if (!tag.child("Key") || !tag.child("Value"))
      return account::invalid_xml(xml, static_cast<size_t>(tag.offset_debug()));
    tags.emplace_back(tag.child_value("Key"), tag.child_value("Value"));
  }
  return checked(std::move(tags));
}

void write_tags(wire::XmlWriter& xml, const Tags& tags) {
  xml.open("Tags").open("TagSet");
  for (const auto& [key, value] : tags) {
    xml.open("Tag").element("Key", key).element("Value", value).close("Tag");
  }
  xml.close("TagSet").close("Tags");
}

wire::Result<void> check_tag_condition(std::string_view expression) {
  if (!TagQuery::parse(expression, TagQuery::Dialect::kCondition)) {
    return wire::invalid_header("x-ms-if-tags", expression);
  }
  return {};
}

bool tag_condition_holds(std::string_view expression, const Tags& tags) {
  const auto query = TagQuery::parse(expression, TagQuery::Dialect::kCondition);
  CHECK(query);
  return query->matches(tags, {});
}

}  // namespace kyanite::blob
