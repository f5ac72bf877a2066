// The orders in which clients sort the x-ms- headers they sign.
#pragma once

#include <cstddef>
#include <string_view>

#include "http/message.h"

namespace kyanite::auth {

struct NumberedHeader {
  http::Header header;
  size_t position;  // among the headers received: repeated headers keep their order
};

// <0, 0, >0 by the bytes of the lower-cased texts.
int compare_ignoring_case(std::string_view a, std::string_view b);

// By bytes, as the specification says.
bool byte_order(const NumberedHeader& a, const NumberedHeader& b);
// As the JavaScript SDK does: dashes weigh nothing, the underscore less than digits and those less
// than letters; among names equal so far, the one without a dash at the first difference comes
// first.
bool sdk_order(const NumberedHeader& a, const NumberedHeader& b);

}  // namespace kyanite::auth
