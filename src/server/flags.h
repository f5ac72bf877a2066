// The one table of flags. The command line, the environment, --help, the manual page and the
// completions of shells are all made of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/options.h"

namespace kyanite::server {

struct Flag {
  std::string_view name;
  char letter;             // '\0': none.
  std::string_view value;  // What stands for its value in texts; "": it takes none.
  std::string_view text;   // "": that of the next flag holds for both.
  // Gets "" for flags that take no value. The error continues a sentence that begins with the flag.
  Result<void, std::string> (*apply)(Options& options, std::string_view value);
  bool repeated = false;  // May be given several times; in the environment, separated by ';'.

  bool takes_value() const { return !value.empty(); }
};
// The text of a flag that no list shows.
inline constexpr std::string_view kUnlisted = "-";

struct Section {
  std::string_view title;
  std::span<const Flag> flags;
  bool in_environment = true;  // Its flags have variables.
};
std::span<const Section> flag_sections();

// "KYANITE_BLOB_HOST" of "blobHost".
std::string variable_of(const Flag& flag);

// What --help prints. Fits a screen.
std::string help_text();
// The table as JSON, for the programs that make pages and completions of it.
std::string describe_flags();

}  // namespace kyanite::server
