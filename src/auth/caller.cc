#include "auth/caller.h"

namespace kyanite::auth {

std::optional<Letters> Letters::parse(std::string_view text, Letters allowed) {
  for (char letter : text) {
    if (!allowed.has(letter)) return {};
  }
  return Letters(text);
}

bool KeyRange::contains(std::string_view partition, std::string_view row) const {
  if (start_partition) {
    if (partition < *start_partition) return false;
    if (partition == *start_partition && start_row && row < *start_row) return false;
  }
  if (end_partition) {
    if (partition > *end_partition) return false;
    if (partition == *end_partition && end_row && row > *end_row) return false;
  }
  return true;
}

}  // namespace kyanite::auth
