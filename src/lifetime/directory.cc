#include "lifetime/directory.h"

#include "base/random.h"

namespace kyanite::lifetime {

namespace {
constexpr store::SpaceId kDirectoryBit = store::SpaceId{1} << 63;
}

store::SpaceId directory_space(std::string_view account) {
  // FNV-1a; account names are few, at most 24 characters, and chosen by the operator.
  uint64_t hash = 14695981039346656037u;
  for (char c : account) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash | kDirectoryBit;
}

store::SpaceId new_space() { return random_u64() & ~kDirectoryBit; }

}  // namespace kyanite::lifetime
