// What clients note of an object for themselves.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kyanite::object {

// Names as sent (case preserved), values as sent.
using Metadata = std::vector<std::pair<std::string, std::string>>;

}  // namespace kyanite::object
