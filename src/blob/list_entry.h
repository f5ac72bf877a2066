// One entry of List Blobs.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "blob/records.h"
#include "service/call.h"
#include "wire/date.h"
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

// A head as a listing reads it.
struct ListedHead {
  std::string row;
  Blob blob;
  std::string others;  // The stored bytes of the blob's other_fields().
};
bool is_shown(const ListShows& shows, const service::Call& call, const ListedHead& head);

class EntryWriter {
 public:
  EntryWriter(wire::XmlWriter& xml, const service::Call& call, const ListShows& shows)
      : xml_(xml), call_(call), shows_(shows) {}

  void write(std::string_view name, const ListedHead& head);
  void write_uncommitted(std::string_view name);
  void write_prefix(std::string_view prefix);

 private:
  void write_name(std::string_view name);
  void write_own_properties(const Blob& blob);
  void write_other_properties(const ListedHead& head);
  const wire::DateText& date(Time time);

  wire::XmlWriter& xml_;
  const service::Call& call_;
  const ListShows& shows_;
  // Blobs listed together were often made within a few seconds.
  struct Dated {
    int64_t second = -1;
    wire::DateText text;
  };
  std::array<Dated, 64> dates_;
  // What was written of the last blob's other properties: most blobs have the same.
  struct Others {
    std::string stored;
    BlobType type;
    std::string written;
  };
  std::optional<Others> others_;
};

}  // namespace kyanite::blob
