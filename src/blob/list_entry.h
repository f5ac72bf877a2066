// One entry of List Blobs.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "blob/blob.h"
#include "service/call.h"
#include "wire/xml.h"

namespace kyanite::blob {

// What the include parameter asks for.
struct ListShows {
  bool copy = false;
  bool deleted = false;
  bool metadata = false;
  bool snapshots = false;
  bool uncommitted = false;
  bool versions = false;
  bool tags = false;
  bool legal_hold = false;
  bool immutability = false;
  bool deleted_with_versions = false;
};
ListShows list_shows(const std::set<std::string, std::less<>>& include);

bool is_shown(const ListShows& shows, const service::Call& call, const Head& head);
void write_entry(wire::XmlWriter& xml, const service::Call& call, const ListShows& shows,
                 std::string_view name, const Head& head);
void write_uncommitted_entry(wire::XmlWriter& xml, const service::Call& call,
                             std::string_view name);
void write_prefix_entry(wire::XmlWriter& xml, const service::Call& call, std::string_view prefix);

}  // namespace kyanite::blob
