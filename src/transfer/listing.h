// What all listings share: the parameters of a page and the markers that continue one.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "service/call.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::transfer {

inline constexpr uint64_t kMaxListResults = 5000;

struct Page {
  std::string prefix;
  std::optional<std::string> marker_text;  // as sent
  std::string start;  // decoded marker: the first name to list; "" for the beginning
  std::optional<uint64_t> asked_results;  // as sent
  uint64_t most = kMaxListResults;
};

// prefix, marker and maxresults. 0 or a non-number: 400; more than the limit is the limit.
wire::Result<Page> decode_page(const service::Call& call);

// A marker names the first key of the next page. Its text is opaque to clients and safe in URLs and
// XML.
std::string write_marker(std::string_view next);

// The comma-separated words of `include`; a word not in `known` is an error.
wire::Result<std::set<std::string, std::less<>>> decode_include(
    const service::Call& call, const std::set<std::string_view>& known);

// An element with a name that XML may not be able to hold: it is then percent-encoded and marked.
void write_encodable(wire::XmlWriter& xml, std::string_view element, std::string_view name);

// Prefix, Marker and MaxResults elements, each when it was sent. The prefix is encoded like the
// names where they are.
void write_page(wire::XmlWriter& xml, const Page& page, bool encodes_names = false);

}  // namespace kyanite::transfer
