// The command line: Azurite's flags, unchanged, and our own in the same manner.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kyanite::server {

inline constexpr std::string_view kVersion = "0.1.0";

// Accounts as in AZURITE_ACCOUNTS, which counts when this one is not there.
inline constexpr std::string_view kAccountsVariable = "KYANITE_ACCOUNTS";
// The directory in which systemd puts what a unit loads as credentials.
inline constexpr std::string_view kCredentialsVariable = "CREDENTIALS_DIRECTORY";

// By which name the program was called. Azurite's names serve what Azurite serves, and say so in
// its words, so that whoever waits for them need not know better.
enum class Personality { kKyanite, kAzurite, kAzuriteBlob, kAzuriteQueue, kAzuriteTable };
// Of a path or a plain name; nothing for names that are none of ours.
std::optional<Personality> personality_of(std::string_view program);

// Everything the server can listen for. All but kAdmin and kToken carry users' data.
enum class Listener { kBlob, kQueue, kTable, kFile, kSmb, kWeb, kAdmin, kToken };
inline constexpr std::array kListeners = {Listener::kBlob,  Listener::kQueue, Listener::kTable,
                                          Listener::kFile,  Listener::kSmb,   Listener::kWeb,
                                          Listener::kAdmin, Listener::kToken};
// As the flags spell it: "blob" of --blobPort.
std::string_view name(Listener listener);
// Behind the reason why a listener cannot be opened: which flags choose another place for it.
std::string where_flags(Listener listener);

struct ListenOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0: chosen by the kernel and printed at start.
  std::optional<int> keep_alive_s;
  bool named = false;  // Some flag of this listener was given.
};

struct Options {
  Options();

  ListenOptions& operator[](Listener listener) { return listen[static_cast<size_t>(listener)]; }
  const ListenOptions& operator[](Listener listener) const {
    return listen[static_cast<size_t>(listener)];
  }

  Personality personality = Personality::kKyanite;
  std::array<ListenOptions, kListeners.size()> listen;
  std::string location = "data";
  bool in_memory = false;
  std::string config_file;  // Empty: none.
  std::string cert_file;    // PEM, or PFX when there is no key file. Empty: no TLS.
  std::string key_file;
  std::string cert_password;
  bool https = false;                    // By an authority of the server's own.
  std::vector<std::string> https_hosts;  // More hosts for its certificate.
  bool oauth = false;
  bool local_tokens = false;            // Of oauth: the server issues them itself.
  bool insecure_off_loopback = false;   // Even others may use the key that everybody knows.
  bool product_style_url = true;        // The account may be the first label of the host name.
  bool copy_from_private = false;       // Copies may read from private addresses.
  bool smb = true;                      // Shares are served over SMB, too.
  uint32_t smb_write_behind_ms = 1000;  // For how long what is written over SMB may not be durable.
  bool silent = false;                  // Neither start-up text nor request log on the console.
  std::string debug_file;               // Empty: no debug log.
  // Account settings by name, for all accounts; see server/account_settings.h.
  std::vector<std::pair<std::string, std::string>> account_settings;
  int threads = 0;  // Event loops; 0: one per core.
  int parent = 0;   // The process that started this one, and that it ends with; 0: with none.
  bool help = false;
  bool version = false;
  bool health_check = false;       // Ask a running server how it is, and end.
  bool connection_string = false;  // Print how clients connect, and end.
  bool describe_flags = false;     // Print the table of flags for programs, and end.

  // Flags that were accepted and change nothing, each with the reason, for the log.
  std::vector<std::string> without_effect;
  // Sentences about variables that look like a mistake, for the log.
  std::vector<std::string> doubtful;
};

// Whether this listener is to be opened: all but websites, which are for those who ask for them. By
// one of Azurite's names what Azurite has, and else what is asked for by a flag, so that any number
// of processes that were given other ports for Azurite's services run side by side.
bool serves(const Options& options, Listener listener);

// What the environment says, by name.
using Environment = std::map<std::string, std::string, std::less<>>;
// Those variables of this process that may concern us.
Environment process_environment();

// Reads the arguments after the program's name. What they do not say is taken from the environment,
// where every flag has a variable. The error is a sentence for the user.
Result<Options, std::string> parse_options(const std::vector<std::string>& arguments,
                                           const Environment& environment = {},
                                           Personality personality = Personality::kKyanite);

}  // namespace kyanite::server
