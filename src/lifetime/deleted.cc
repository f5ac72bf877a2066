#include "lifetime/deleted.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::lifetime {

store::Key deleted_key(std::string_view account, const Graves& graves, std::string_view name,
                       Time deleted) {
  std::string row;
  append_be64(row, static_cast<uint64_t>(deleted.ticks));
  return store::Key(directory_space(account), graves.deleted, name, row);
}

std::string deletion_version(Time deleted) {
  std::string ticks;
  append_be64(ticks, static_cast<uint64_t>(deleted.ticks));
  std::string text = hex(ticks);
  for (char& c : text) c = c >= 'a' ? static_cast<char>(c - 32) : c;
  return text;
}

std::optional<Time> instant_of_deletion(std::string_view version) {
  const auto ticks = unhex(version);
  if (!ticks || ticks->size() != 8) return std::nullopt;
  const Time instant{static_cast<int64_t>(read_be64(ticks->data()))};
  // There is one way to write it.
  if (deletion_version(instant) != version) return std::nullopt;
  return instant;
}

uint64_t remaining_days(Time removal, Time now) {
  const int64_t left = removal.seconds() - now.seconds();
  return static_cast<uint64_t>(std::max<int64_t>(0, left / (24 * 3600)));
}

}  // namespace kyanite::lifetime
