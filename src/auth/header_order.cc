#include "auth/header_order.h"

#include <algorithm>

namespace kyanite::auth {

namespace {
int lower(char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c); }

// '_' just before '0'.
int sdk_weight(char c) { return c == '_' ? '0' - 1 : lower(c); }

// The next character that counts, or 0 at the end.
int next_weight(std::string_view name, size_t& at) {
  while (at < name.size() && name[at] == '-') ++at;
  return at < name.size() ? sdk_weight(name[at++]) : 0;
}

int compare_sdk(std::string_view a, std::string_view b) {
  size_t at_a = 0;
  size_t at_b = 0;
  while (true) {
    const int weight_a = next_weight(a, at_a);
    const int weight_b = next_weight(b, at_b);
    if (weight_a != weight_b) return weight_a - weight_b;
    if (weight_a == 0) break;
  }
  const size_t shared = std::min(a.size(), b.size());
  for (size_t i = 0; i < shared; ++i) {
    if ((a[i] == '-') != (b[i] == '-')) return a[i] == '-' ? 1 : -1;
  }
  return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
}
}  // namespace

int compare_ignoring_case(std::string_view a, std::string_view b) {
  const size_t shared = std::min(a.size(), b.size());
  for (size_t i = 0; i < shared; ++i) {
    if (const int difference = lower(a[i]) - lower(b[i]); difference != 0) return difference;
  }
  return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
}

bool byte_order(const NumberedHeader& a, const NumberedHeader& b) {
  const int order = compare_ignoring_case(a.header.name, b.header.name);
  return order != 0 ? order < 0 : a.position < b.position;
}

bool sdk_order(const NumberedHeader& a, const NumberedHeader& b) {
  const int order = compare_sdk(a.header.name, b.header.name);
  return order != 0 ? order < 0 : a.position < b.position;
}

}  // namespace kyanite::auth
