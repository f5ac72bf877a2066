// Who a location is, and how often it was started, known in two places: in a file of the directory
// (IDENTITY) and in a record of the database. Records of another location, older ones, and none at
// all are recognised by it. The record also knows the numbers of the extents, so that extents which
// are newer than the records are recognised, and ones that are missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/extent_file.h"
#include "os/file.h"
#include "store/store.h"

namespace kyanite::engine {

struct Identity {
  LocationId location;
  uint64_t start = 0;  // The number of the last start.
  bool beginning =
      false;  // It was not finished when this was written: the record may be behind it.
};

// Nothing when there is no such file. The error is a clause that says what is wrong with it.
Result<std::optional<Identity>, std::string> read_identity(const std::string& directory);
// Of the text of that file; nothing when it is damaged.
std::optional<Identity> parse_identity(std::string_view text);
os::Result<void> write_identity(const std::string& directory,
                                const Identity& identity);  // Durable.

// What the database knows.
struct Standing {
  LocationId location;
  uint64_t start = 0;
  ExtentId announced = 0;  // No extent has a higher number.
  ExtentId made = 0;       // There is an extent with this number or a higher one.
};

store::Key standing_key();
store::RecordPtr to_record(const Standing& standing);
std::optional<Standing> standing_of(const store::Record& record);

// A clause that says why the two cannot belong together; nothing when they do. `standing` is empty
// where the database has no such record.
std::optional<std::string> mismatch(const std::optional<Identity>& identity,
                                    const std::optional<Standing>& standing);
// The same for the database and the highest number of an extent on the disk, 0: none.
std::optional<std::string> mismatch(const Standing& standing, ExtentId highest);

}  // namespace kyanite::engine
