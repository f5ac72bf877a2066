// Whether the logs of a location are whole as far as they were synced, and whose commits are not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kyanite::engine {

struct LogDamage {
  std::string log;   // its name
  std::string what;  // A clause.
  // Of the records that the damaged commit writes, as far as they can be read. They may be spoilt
  // themselves.
  std::vector<std::string> keys;
};

// `root` has the ledger, `records` the logs. The error is a clause about the ledger.
Result<std::vector<LogDamage>, std::string> audit_logs(const std::string& root,
                                                       const std::string& records);

// The same of one log, of which so many bytes were synced.
std::vector<LogDamage> audit_log(const std::string& name, std::string_view log, uint64_t synced);

}  // namespace kyanite::engine
