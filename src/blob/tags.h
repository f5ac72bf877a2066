// Blob index tags: limits, the two forms in which they are sent, and the expressions of
// x-ms-if-tags.
#pragma once

#include <string>
#include <string_view>

#include "blob/records.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::blob {

inline constexpr size_t kMaxTags = 10;
inline constexpr size_t kMaxTagKey = 128;
inline constexpr size_t kMaxTagValue = 256;

// x-ms-tags: "key=value&key=value", percent-encoded.
wire::Result<Tags> decode_tags(const service::Call& call);
// The Tags document of Set Blob Tags.
wire::Result<Tags> parse_tags(std::string_view xml);
// <Tags><TagSet>...</TagSet></Tags>
void write_tags(wire::XmlWriter& xml, const Tags& tags);

// x-ms-if-tags: comparisons of "name" (or @container) with 'value' by = <> > >= < <=, joined by AND
// and OR.
wire::Result<void> check_tag_condition(std::string_view expression);
// For an expression that check_tag_condition() accepted.
bool tag_condition_holds(std::string_view expression, const Tags& tags);

}  // namespace kyanite::blob
