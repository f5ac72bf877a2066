// The command line of what kyanite does beside serving: a few flags, and words without.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kyanite::server {

struct CommandLine {
  std::string location = "data";
  std::vector<std::string> accounts;  // names, of the configuration or the environment
  std::optional<uint64_t> bytes_per_second;
  bool dry_run = false;
  bool help = false;
  std::vector<std::string> words;
};

// `flags` are those that the command takes of -l/--location, --config, --rate and --dryRun. The
// error is a sentence.
Result<CommandLine, std::string> parse_command_line(const std::vector<std::string>& arguments,
                                                    std::string_view flags, size_t least_words,
                                                    size_t most_words);

// Says what went wrong: an exit code.
int fail_command(const std::string& why);

}  // namespace kyanite::server
