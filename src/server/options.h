// The command line: Azurite's flags, unchanged, and our own in the same manner.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kyanite::server {

inline constexpr std::string_view kVersion = "0.1.0";

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

  std::array<ListenOptions, kListeners.size()> listen;
  std::string location = "data";
  bool location_given = false;
  bool in_memory = false;
  std::string config_file;  // Empty: none.
  std::string cert_file;    // PEM, or PFX when there is no key file. Empty: no TLS.
  std::string key_file;
  std::string cert_password;
  bool https = false;                    // By an authority of the server's own.
  std::vector<std::string> https_hosts;  // More hosts for its certificate.
  bool oauth = false;
  bool local_tokens = false;            // Of oauth: the server issues them itself.
  bool product_style_url = true;        // The account may be the first label of the host name.
  bool copy_from_private = false;       // Copies may read from private addresses.
  bool smb = true;                      // Shares are served over SMB, too.
  uint32_t smb_write_behind_ms = 1000;  // For how long what is written over SMB may not be durable.
  bool silent = false;                  // Neither start-up text nor request log on the console.
  std::string debug_file;               // Empty: no debug log.
  // Account settings by name, for all accounts; see server/account_settings.h.
  std::vector<std::pair<std::string, std::string>> account_settings;
  int threads = 0;  // Event loops; 0: one per core.
  bool help = false;
  bool version = false;

  // Flags that were accepted and change nothing, each with the reason, for the log.
  std::vector<std::string> without_effect;
};

// Reads the arguments after the program's name. The error is a sentence for the user.
Result<Options, std::string> parse_options(const std::vector<std::string>& arguments);

// Fits a screen.
std::string_view help_text();

}  // namespace kyanite::server
