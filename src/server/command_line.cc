#include "server/command_line.h"

#include <cstdio>

#include "base/bytes.h"
#include "base/log.h"
#include "server/accounts.h"
#include "server/configuration.h"
#include "server/settings.h"

namespace kyanite::server {

namespace {

constexpr uint64_t kMostMebibytes = 1 << 20;

void add_accounts(CommandLine& line, const AccountList& accounts) {
  for (const auto& account : accounts) line.accounts.push_back(account.name);
}

Result<void, std::string> apply(CommandLine& line, std::string_view flag,
                                const std::string& value) {
  if (flag == "--location") {
    line.location = value;
    return {};
  }
  if (flag == "--config") {
    auto configuration = load_configuration(value);
    if (!configuration) return Failure{configuration.error()};
    add_accounts(line, configuration->accounts);
    return {};
  }
  const auto mebibytes = parse_uint(value);
  if (!mebibytes || *mebibytes > kMostMebibytes)
    return Failure{std::string("--rate wants a number of MiB a second, 0 for no limit")};
  line.bytes_per_second = *mebibytes << 20;
  return {};
}

}  // namespace

Result<CommandLine, std::string> parse_command_line(const std::vector<std::string>& arguments,
                                                    std::string_view flags, size_t least_words,
                                                    size_t most_words) {
  CommandLine line;
  line.accounts.emplace_back(kWellKnownAccount);
  const auto given = read_environment_accounts(process_environment());
  if (!given) return Failure{given.error()};
  const auto accounts = parse_environment_accounts(*given);
  if (!accounts) return Failure{accounts.error()};
  add_accounts(line, *accounts);
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string flag = arguments[i];
    if (!flag.starts_with('-')) {
      line.words.push_back(flag);
      continue;
    }
    if (flag == "-h" || flag == "--help") {
      line.help = true;
      return line;
    }
    if (flag == "-l") flag = "--location";
    if ((" " + std::string(flags) + " ").find(" " + flag + " ") == std::string::npos)
      return Failure{"unknown flag " + flag + " (--help lists all)"};
    if (flag == "--dryRun") {
      line.dry_run = true;
      continue;
    }
    if (i + 1 == arguments.size()) return Failure{flag + " wants a value"};
    if (auto applied = apply(line, flag, arguments[++i]); !applied) return Failure{applied.error()};
  }
  if (line.words.size() < least_words || line.words.size() > most_words)
    return Failure{std::string("too few or too many words (--help says which)")};
  return line;
}

int fail_command(const std::string& why) {
  flush_log();
  std::fprintf(stderr, "kyanite: %s\n", why.c_str());
  return EXIT_FAILURE;
}

}  // namespace kyanite::server
