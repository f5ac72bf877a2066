// 400 InvalidXmlDocument with the place of the mistake, as the service reports it.
#pragma once

#include <pugixml.hpp>
#include <string_view>

#include "wire/error.h"

namespace kyanite::account {

inline constexpr std::string_view kNotParsed = "Error parsing Xml content";

// LineNumber and LinePosition of the byte at `offset`, and the reason.
wire::Error invalid_xml(std::string_view document, size_t offset,
                        std::string_view reason = kNotParsed);

// The first node whose text no document may have, which pugixml takes as it is: bytes that are not
// UTF-8, and characters that cannot be written even as references. Null when there is none.
pugi::xml_node find_unwritable(pugi::xml_document& document);

}  // namespace kyanite::account
