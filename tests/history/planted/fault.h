// Faults planted into kyanite_planted, one of them at a time: the one that KYANITE_PLANT names.
#pragma once

#include <string_view>

namespace kyanite::planted {

// Whether the fault of this name is switched on for this process.
bool has(std::string_view fault);

}  // namespace kyanite::planted
