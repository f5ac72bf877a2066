// 400 InvalidXmlDocument with the place of the mistake, as the service reports it.
#pragma once

#include <string_view>

#include "wire/error.h"

namespace kyanite::service {

inline constexpr std::string_view kNotParsed = "Error parsing Xml content";

// LineNumber and LinePosition of the byte at `offset`, and the reason.
wire::Error invalid_xml(std::string_view document, size_t offset,
                        std::string_view reason = kNotParsed);

}  // namespace kyanite::service
