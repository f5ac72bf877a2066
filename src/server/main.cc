// The command line: what is asked for, and by which of the program's names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/log.h"
#include "os/directory.h"
#include "server/announcement.h"
#include "server/commands.h"
#include "server/flags.h"
#include "server/health_check.h"
#include "server/hosted.h"
#include "server/instance.h"
#include "server/open_store.h"
#include "server/root_certificates.h"
#include "server/settings.h"
#include "server/start_text.h"
#include "server/stop_signal.h"

namespace kyanite::server {

namespace {

// False when the log file cannot be opened.
bool set_up_log(const Options& options) {
  if (!options.debug_file.empty()) {
    set_log_level(LogLevel::kDebug);
    const std::string folder = std::filesystem::path(options.debug_file).parent_path();
    if (!folder.empty() && !os::make_directories(folder)) return false;
    return log_to_file(options.debug_file);
  }
  if (options.silent) set_log_level(LogLevel::kWarning);
  return true;
}

int fail(const std::string& why) {
  flush_log();
  std::fprintf(stderr, "kyanite: %s\n", why.c_str());
  return EXIT_FAILURE;
}

int run(const Settings& settings) {
  auto opened = open_store(settings.options);
  if (!opened) return fail(opened.error());
  Instance instance(settings, std::move(*opened));
  if (auto prepared = instance.prepare(); !prepared) return fail(prepared.error());
  if (auto listening = instance.listen(); !listening) return fail(listening.error());
  instance.start();
  instance.attend_until_stopped();
  end_at_next_stop_signal();
  instance.stop();
  return EXIT_SUCCESS;
}

int show_help(const std::vector<std::string>&) {
  print(help_text());
  return EXIT_SUCCESS;
}

int show_version(const std::vector<std::string>&) {
  print("kyanite " + std::string(kVersion) + "\n");
  return EXIT_SUCCESS;
}

// What is wanted instead of serving; nothing when the server is to serve.
std::optional<int> answer(const Options& options) {
  if (options.health_check) {
    const auto health = check_health(options);
    return health ? EXIT_SUCCESS : fail(health.error());
  }
  if (options.help) return show_help({});
  if (options.version) return show_version({});
  if (!options.describe_flags) return std::nullopt;
  print(describe_flags());
  return EXIT_SUCCESS;
}

int serve(const std::vector<std::string>& arguments, Personality personality) {
  const Environment environment = process_environment();
  auto options = parse_options(arguments, environment, personality);
  if (!options) return fail(options.error());
  if (const auto answered = answer(*options)) return *answered;
  const auto accounts = read_environment_accounts(environment);
  if (!accounts) return fail(accounts.error());
  auto settings = make_settings(std::move(*options), kServed, *accounts);
  if (!settings) return fail(settings.error());
  if (settings->options.connection_string) {
    const auto strings = connection_strings(settings->options, kServed, settings->accounts);
    if (!strings) return fail(strings.error());
    for (const std::string& each : *strings) print(each + "\n");
    return EXIT_SUCCESS;
  }
  // A log in the location would make a new one look like somebody else's directory.
  if (auto settled = settle_location(settings->options); !settled) return fail(settled.error());
  if (!set_up_log(settings->options)) return fail("cannot write " + settings->options.debug_file);

  find_root_certificates();
  block_stop_signals();
  if (settings->options.parent != 0) stop_with_parent(settings->options.parent);
  return run(*settings);
}

int serve_as_kyanite(const std::vector<std::string>& arguments) {
  return serve(arguments, Personality::kKyanite);
}

// What the first word may ask for. Each gets the words behind it and answers with an exit code. A
// command line that begins with a flag, or is empty, asks to serve.
struct Subcommand {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Subcommand kSubcommands[] = {
    {"serve", serve_as_kyanite},  {"check", check_command},     {"backup", backup_command},
    {"restore", restore_command}, {"migrate", migrate_command}, {"import", import_command},
    {"help", show_help},          {"version", show_version},
};

// The first word may also be one of the names by which the program can be called, as the command of
// a container is.
int dispatch(std::string_view program, std::vector<std::string> arguments) {
  auto personality = personality_of(program).value_or(Personality::kKyanite);
  if (arguments.empty()) return serve(arguments, personality);
  const std::vector<std::string> behind(arguments.begin() + 1, arguments.end());
  for (const Subcommand& subcommand : kSubcommands) {
    if (arguments[0] == subcommand.name) return subcommand.run(behind);
  }
  if (const auto named = personality_of(arguments[0])) return serve(behind, *named);
  return serve(arguments, personality);
}

// Takes the signatures of URLs out of what other users see of the command line.
void hide_signatures(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* query = std::strchr(argv[i], '?');
    if (query != nullptr && std::strstr(query, "sig=") != nullptr)
      std::memset(query + 1, '*', std::strlen(query + 1));
  }
}

}  // namespace

}  // namespace kyanite::server

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  kyanite::server::hide_signatures(argc, argv);
  const int code = kyanite::server::dispatch(argv[0], arguments);
  kyanite::flush_log();
  return code;
}
