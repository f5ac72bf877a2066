#include "server/announcement.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "server/azurite_text.h"

namespace kyanite::server {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

const Started* find_started(const std::vector<Started>& started, Listener listener) {
  const auto found = std::find_if(started.begin(), started.end(),
                                  [&](const Started& each) { return each.listener == listener; });
  return found == started.end() ? nullptr : &*found;
}

namespace {

// How to use what the server vouches for itself.
struct OwnIssuer {
  std::string trust;   // of its certificates; "" without
  std::string tokens;  // "" without
};

OwnIssuer own_issuer_text(const Settings& settings, const std::vector<Started>& started,
                          const Certificates& certificates, const LocalTokens* tokens) {
  const auto url = [&](Listener listener) {
    const Started* found = find_started(started, listener);
    return found != nullptr ? url_of(*found) : std::string();
  };
  OwnIssuer text;
  if (certificates.authority() != nullptr) {
    const Options& options = settings.options;
    const std::string file =
        options.in_memory ? "" : std::filesystem::absolute(options.location) / "issuer/ca.pem";
    text.trust = trust_text(file, url(Listener::kAdmin) + "/ca.pem");
  }
  if (tokens != nullptr) {
    text.tokens =
        tokens_text(url(Listener::kToken), url(Listener::kAdmin), tokens->identity_header());
  }
  return text;
}

// What programs need to get tokens is said however silent the server is to be: it is to be had from
// nowhere else. It is no secret, as whoever is on this machine gets tokens without it, too.
void print_start_text(const Settings& settings, const std::vector<Started>& started,
                      const OwnIssuer& own) {
  print(azurite_start_text(settings.options, started));
  if (settings.options.silent) {
    print(own.tokens);
    return;
  }
  const Options& options = settings.options;
  const std::string location =
      options.in_memory ? "memory only" : std::filesystem::absolute(options.location).string();
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  print(start_text(started, settings.accounts, location, on_terminal, own.trust + own.tokens));
}

// On standard error whatever else is silent or logged elsewhere.
void warn_of_open_doors(const Settings& settings) {
  for (const std::string& notice :
       {open_to_all_notice(settings), std::string(forgeable_tokens_notice(settings))}) {
    if (notice.empty()) continue;
    std::fprintf(stderr, "kyanite: %s\n", notice.c_str());
    if (!settings.options.debug_file.empty()) log_warning(notice);
  }
}

}  // namespace

void announce(const Settings& settings, const std::vector<Started>& started,
              const Certificates& certificates, const LocalTokens* tokens) {
  for (const std::string& notice : notices(settings.options)) log_warning(notice);
  warn_of_open_doors(settings);
  flush_log();  // What is said of the start is said before it.
  print_start_text(settings, started, own_issuer_text(settings, started, certificates, tokens));
}

}  // namespace kyanite::server
