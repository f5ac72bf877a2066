#include "transfer/listing.h"

#include <algorithm>

#include "base/bytes.h"
#include "wire/query.h"
#include "wire/readable.h"

namespace kyanite::transfer {

namespace {
constexpr std::string_view kMarkerMark = "1!";

std::optional<std::string> read_marker(std::string_view text) {
  if (text.substr(0, kMarkerMark.size()) != kMarkerMark) return {};
  std::string encoded(text.substr(kMarkerMark.size()));
  std::replace(encoded.begin(), encoded.end(), '-', '=');
  std::replace(encoded.begin(), encoded.end(), '_', '/');
  std::replace(encoded.begin(), encoded.end(), '.', '+');
  return unbase64(encoded);
}
}  // namespace

std::string write_marker(std::string_view next) {
  std::string encoded = base64(next);
  std::replace(encoded.begin(), encoded.end(), '=', '-');
  std::replace(encoded.begin(), encoded.end(), '/', '_');
  std::replace(encoded.begin(), encoded.end(), '+', '.');
  return std::string(kMarkerMark) + encoded;
}

wire::Result<Page> decode_page(const service::Call& call) {
  Page page;
  page.prefix = call.query.get("prefix");
  if (auto text = call.query.find("maxresults"); text && !text->empty()) {
    const auto count = parse_int(*text);
    if (!count) return wire::invalid_query("maxresults", *text);
    if (*count < 1) return wire::out_of_range_query("maxresults", *text, "1", "2147483647");
    page.asked_results = static_cast<uint64_t>(*count);
    page.most = std::min(*page.asked_results, kMaxListResults);
  }
  if (auto text = call.query.find("marker"); text && !text->empty()) {
    auto start = read_marker(*text);
    if (!start) return wire::invalid_query("marker", *text);
    page.marker_text = text;
    page.start = std::move(*start);
  }
  return page;
}

wire::Result<std::set<std::string, std::less<>>> decode_include(
    const service::Call& call, const std::set<std::string_view>& known) {
  std::set<std::string, std::less<>> included;
  const std::string_view asked = call.query.get("include");
  for (auto item : split_list(asked)) {
    std::string word = ascii_lower(item);
    if (!known.contains(word))
      return wire::invalid_query("include", asked, "Invalid query parameter value.");
    included.insert(std::move(word));
  }
  return included;
}

void write_encodable(wire::XmlWriter& xml, std::string_view element, std::string_view name) {
  if (wire::xml_can_hold(name)) {
    xml.element(element, name);
  } else {
    xml.open(element).attribute("Encoded", "true").text(wire::percent_encode(name)).close(element);
  }
}

void write_page(wire::XmlWriter& xml, const Page& page, bool encodes_names) {
  if (encodes_names && !page.prefix.empty()) {
    write_encodable(xml, "Prefix", page.prefix);
  } else {
    xml.optional("Prefix", wire::readable(page.prefix));
  }
  if (page.marker_text) xml.element("Marker", wire::readable(*page.marker_text));
  if (page.asked_results) xml.element("MaxResults", *page.asked_results);
}

}  // namespace kyanite::transfer
