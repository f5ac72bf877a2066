#include "server/options.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "server/account_settings.h"

namespace kyanite::server {

namespace {

using Outcome = Result<void, std::string>;

constexpr int kMostThreads = 1024;
constexpr uint64_t kLongestKeepAlive_s = 24 * 60 * 60;

// A row of the flag table. `apply` gets "" for flags that take no value.
struct Flag {
  std::string_view name;
  char letter;  // '\0': none.
  bool takes_value;
  Outcome (*apply)(Options& options, std::string_view value);
};

template <Listener listener>
Outcome set_host(Options& options, std::string_view value) {
  if (value.empty()) return std::string("wants an address");
  options[listener].host = value;
  options[listener].named = true;
  return {};
}

template <Listener listener>
Outcome set_port(Options& options, std::string_view value) {
  const auto port = parse_uint(value);
  if (!port || *port > std::numeric_limits<uint16_t>::max()) {
    return std::string("wants a port from 0 to 65535");
  }
  options[listener].port = static_cast<uint16_t>(*port);
  options[listener].named = true;
  return {};
}

template <Listener listener>
Outcome set_keep_alive(Options& options, std::string_view value) {
  const auto seconds = parse_uint(value);
  if (!seconds || *seconds == 0 || *seconds > kLongestKeepAlive_s) {
    return std::string("wants seconds from 1 to 86400");
  }
  options[listener].keep_alive_s = static_cast<int>(*seconds);
  options[listener].named = true;
  return {};
}

template <std::string Options::*member>
Outcome set_text(Options& options, std::string_view value) {
  if (value.empty()) return std::string("wants a value");
  options.*member = value;
  return {};
}

template <bool Options::*member, bool value>
Outcome set_bool(Options& options, std::string_view) {
  options.*member = value;
  return {};
}

Outcome set_location(Options& options, std::string_view value) {
  options.location_given = true;
  return set_text<&Options::location>(options, value);
}

Outcome set_password(Options& options, std::string_view value) {
  options.cert_password = value;
  return {};
}

Outcome set_oauth(Options& options, std::string_view value) {
  if (value != "basic") return std::string("knows only the level 'basic'");
  options.oauth = true;
  return {};
}

Outcome add_setting(Options& options, std::string_view value) {
  const size_t equals = value.find('=');
  if (equals == std::string_view::npos) return std::string("wants NAME=VALUE");
  const auto name = value.substr(0, equals);
  const auto text = value.substr(equals + 1);
  AccountSwitches scratch;
  if (auto set = set_account_setting(scratch, name, text); !set) return set.error();
  options.account_settings.emplace_back(name, text);
  return {};
}

Outcome set_threads(Options& options, std::string_view value) {
  const auto threads = parse_uint(value);
  if (!threads || *threads == 0 || *threads > kMostThreads) {
    return std::string("wants a number from 1 to 1024");
  }
  options.threads = static_cast<int>(*threads);
  return {};
}

Outcome set_smb_write_behind(Options& options, std::string_view value) {
  constexpr uint64_t kMost = 60'000;
  const auto milliseconds = parse_uint(value);
  if (!milliseconds || *milliseconds > kMost)
    return std::string("wants a number of milliseconds up to 60000");
  options.smb_write_behind_ms = static_cast<uint32_t>(*milliseconds);
  return {};
}

Outcome accept_loose(Options& options, std::string_view) {
  options.without_effect.emplace_back("--loose: what is not supported is refused all the same");
  return {};
}

Outcome accept_version_check(Options& options, std::string_view) {
  options.without_effect.emplace_back(
      "--skipApiVersionCheck: every well-formed x-ms-version is served");
  return {};
}

Outcome accept_telemetry(Options& options, std::string_view) {
  options.without_effect.emplace_back("--disableTelemetry: there is no telemetry");
  return {};
}

Outcome accept_memory_limit(Options& options, std::string_view value) {
  // Azurite takes fractions of a megabyte.
  if (value.empty() || value.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::string("wants a number of megabytes");
  }
  options.without_effect.emplace_back("--extentMemoryLimit: memory is not limited by this build");
  return {};
}

constexpr Flag kFlags[] = {
    {"blobHost", 0, true, set_host<Listener::kBlob>},
    {"blobPort", 0, true, set_port<Listener::kBlob>},
    {"blobKeepAliveTimeout", 0, true, set_keep_alive<Listener::kBlob>},
    {"queueHost", 0, true, set_host<Listener::kQueue>},
    {"queuePort", 0, true, set_port<Listener::kQueue>},
    {"queueKeepAliveTimeout", 0, true, set_keep_alive<Listener::kQueue>},
    {"tableHost", 0, true, set_host<Listener::kTable>},
    {"tablePort", 0, true, set_port<Listener::kTable>},
    {"tableKeepAliveTimeout", 0, true, set_keep_alive<Listener::kTable>},
    {"fileHost", 0, true, set_host<Listener::kFile>},
    {"filePort", 0, true, set_port<Listener::kFile>},
    {"fileKeepAliveTimeout", 0, true, set_keep_alive<Listener::kFile>},
    {"smbHost", 0, true, set_host<Listener::kSmb>},
    {"smbPort", 0, true, set_port<Listener::kSmb>},
    {"disableSmb", 0, false, set_bool<&Options::smb, false>},
    {"smbWriteBehind", 0, true, set_smb_write_behind},
    {"webHost", 0, true, set_host<Listener::kWeb>},
    {"webPort", 0, true, set_port<Listener::kWeb>},
    {"adminHost", 0, true, set_host<Listener::kAdmin>},
    {"adminPort", 0, true, set_port<Listener::kAdmin>},
    {"location", 'l', true, set_location},
    {"inMemoryPersistence", 0, false, set_bool<&Options::in_memory, true>},
    {"extentMemoryLimit", 0, true, accept_memory_limit},
    {"config", 0, true, set_text<&Options::config_file>},
    {"cert", 0, true, set_text<&Options::cert_file>},
    {"key", 0, true, set_text<&Options::key_file>},
    {"pwd", 0, true, set_password},
    {"oauth", 0, true, set_oauth},
    {"disableProductStyleUrl", 0, false, set_bool<&Options::product_style_url, false>},
    {"copyFromPrivateAddresses", 0, false, set_bool<&Options::copy_from_private, true>},
    {"loose", 'L', false, accept_loose},
    {"skipApiVersionCheck", 0, false, accept_version_check},
    {"disableTelemetry", 0, false, accept_telemetry},
    {"silent", 's', false, set_bool<&Options::silent, true>},
    {"debug", 'd', true, set_text<&Options::debug_file>},
    {"setting", 0, true, add_setting},
    {"threads", 0, true, set_threads},
    {"version", 'v', false, set_bool<&Options::version, true>},
    {"help", 'h', false, set_bool<&Options::help, true>},
};

// Single-character edits between two words, letter case aside.
size_t distance(std::string_view a, std::string_view b) {
  const std::string left = ascii_lower(a);
  const std::string right = ascii_lower(b);
  std::vector<size_t> row(right.size() + 1);
  for (size_t i = 0; i < row.size(); ++i) row[i] = i;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t substituted = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string unknown(const std::string& spelled) {
  const std::string flag_name = spelled.substr(spelled.starts_with("--") ? 2 : 1);
  const Flag* nearest =
      std::min_element(std::begin(kFlags), std::end(kFlags), [&](const Flag& a, const Flag& b) {
        return distance(a.name, flag_name) < distance(b.name, flag_name);
      });
  std::string message = "unknown flag " + spelled;
  if (distance(nearest->name, flag_name) <= 1 + nearest->name.size() / 4) {
    message.append("; did you mean --").append(nearest->name).append("?");
  }
  return message + " (--help lists all)";
}

// "--blobPort=1" is the flag "--blobPort" with the value "1".
struct Argument {
  std::string flag;
  std::optional<std::string> value;
};

Argument split(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

const Flag* find_flag(std::string_view spelled) {
  for (const Flag& flag : kFlags) {
    if (spelled.starts_with("--") && spelled.substr(2) == flag.name) return &flag;
    if (spelled.size() == 2 && spelled[0] == '-' && flag.letter != '\0' &&
        spelled[1] == flag.letter) {
      return &flag;
    }
  }
  return nullptr;
}

// What only shows once all flags are known.
Outcome check_together(const Options& options, bool memory_limit_given) {
  if (options.in_memory && options.location_given) {
    return std::string("--inMemoryPersistence keeps nothing, so --location makes no sense with it");
  }
  if (memory_limit_given && !options.in_memory) {
    return std::string("--extentMemoryLimit is only for --inMemoryPersistence");
  }
  if (options.cert_file.empty() && !(options.key_file.empty() && options.cert_password.empty())) {
    return std::string("--key and --pwd belong to a certificate: --cert is missing");
  }
  if (options.oauth && options.cert_file.empty()) {
    // As Azurite and every SDK: a bearer token is never sent over a plain connection.
    return std::string("--oauth needs HTTPS: give --cert and --key");
  }
  return {};
}

}  // namespace

std::string_view name(Listener listener) {
  switch (listener) {
    case Listener::kBlob:
      return "blob";
    case Listener::kQueue:
      return "queue";
    case Listener::kTable:
      return "table";
    case Listener::kFile:
      return "file";
    case Listener::kSmb:
      return "smb";
    case Listener::kWeb:
      return "web";
    case Listener::kAdmin:
      return "admin";
  }
  return "";
}

std::string where_flags(Listener listener) {
  const std::string flag = "--" + std::string(name(listener));
  return "; " + flag + "Port chooses another port, " + flag + "Host another address";
}

Options::Options() {
  (*this)[Listener::kBlob].port = 10000;
  (*this)[Listener::kQueue].port = 10001;
  (*this)[Listener::kTable].port = 10002;
  (*this)[Listener::kFile].port = 10003;
  (*this)[Listener::kSmb].port = 10445;
  (*this)[Listener::kWeb].port = 10080;
  (*this)[Listener::kAdmin].port = 10010;
}

Result<Options, std::string> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  bool memory_limit_given = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("-")) {
      return Failure{"'" + arguments[i] + "' is not a flag (--help lists all)"};
    }
    auto [spelled, value] = split(arguments[i]);
    const Flag* flag = find_flag(spelled);
    if (flag == nullptr) return Failure{unknown(spelled)};
    if (flag->takes_value && !value) {
      // A word that begins with a dash is the next flag, not a value; "--pwd=-x" says otherwise.
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("-")) {
        return Failure{spelled + " wants a value"};
      }
      value = arguments[++i];
    }
    if (!flag->takes_value && value) return Failure{spelled + " takes no value"};
    if (auto applied = flag->apply(options, value.value_or("")); !applied) {
      return Failure{spelled + " " + applied.error()};
    }
    memory_limit_given |= flag->name == "extentMemoryLimit";
  }
  if (auto fine = check_together(options, memory_limit_given); !fine) return Failure{fine.error()};
  return options;
}

std::string_view help_text() {
  return R"(Usage: kyanite [FLAGS]
Serves the Azure Storage protocols from one directory. Azurite's flags work unchanged.
       kyanite check|backup|restore|migrate|import [...]    --help after one says more

Data
  -l, --location DIR             where data is kept, created if missing (default ./data)
  --inMemoryPersistence          keep nothing; --extentMemoryLimit MB is accepted
Listeners (host 127.0.0.1 unless given; port 0 lets the system choose)
  --blobHost HOST  --blobPort PORT      Blob, port 10000
  --queueHost HOST --queuePort PORT     Queue, port 10001
  --tableHost HOST --tablePort PORT     Table, port 10002
  --fileHost HOST  --filePort PORT      File over REST, port 10003
  --smbHost HOST   --smbPort PORT       File over SMB, port 10445; --disableSmb: not served
  --smbWriteBehind MS                   what is written over SMB is durable after MS milliseconds
                                        at the latest (1000), or with 0 before it is acknowledged
  --webHost HOST   --webPort PORT       static websites, port 10080; only if one is given
  --adminHost HOST --adminPort PORT     /healthz and /metrics, port 10010
  --blobKeepAliveTimeout S              close idle connections after S seconds;
                                        likewise queue..., table..., fileKeepAliveTimeout
  --disableProductStyleUrl              the account is always in the path, never in the host name
  --copyFromPrivateAddresses            copies may read URLs at loopback and private addresses
HTTPS and tokens
  --cert FILE --key FILE         certificate and key in PEM
  --cert FILE --pwd PASSWORD     certificate and key in one PFX file
  --oauth basic                  accept bearer tokens (needs HTTPS; off loopback also a key set)
Accounts (devstoreaccount1 with its well-known key unless others are given; then on loopback only)
  --config FILE                  accounts and token issuers in JSON, see README
  AZURITE_ACCOUNTS=name:key[:key2];...   the same from the environment
  --setting NAME=VALUE           blobVersioning=true and the like, see README; may be repeated
Other
  --threads N                    event loops (default: one per core)
  -s, --silent                   no start-up text and no request log on the console
  -d, --debug FILE               append a log with the headers of every request to FILE
  -L, --loose, --skipApiVersionCheck, --disableTelemetry    accepted, without effect
  -v, --version                  print the version
  -h, --help                     print this
)";
}

}  // namespace kyanite::server
