// The rows of the table of flags, and what each does.
#include <limits>

#include "base/bytes.h"
#include "issuer/authority.h"
#include "server/account_settings.h"
#include "server/flags.h"

namespace kyanite::server {

namespace {

using Outcome = Result<void, std::string>;

constexpr int kMostThreads = 1024;
constexpr uint64_t kLongestKeepAlive_s = 24 * 60 * 60;

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

Outcome set_password(Options& options, std::string_view value) {
  options.cert_password = value;
  return {};
}

Outcome set_oauth(Options& options, std::string_view text) {
  const std::string value = ascii_lower(text);  // As Azurite reads it.
  if (value != "basic" && value != "local") return std::string("knows only 'basic' and 'local'");
  options.oauth = true;
  options.local_tokens = value == "local";
  return {};
}

Outcome add_https_host(Options& options, std::string_view value) {
  constexpr size_t kMostBytes = 253;
  constexpr size_t kMostHosts = 32;
  if (!issuer::is_certificate_host(value) || value.size() > kMostBytes)
    return std::string("wants a host name or an address");
  if (options.https_hosts.size() == kMostHosts) return std::string("is given more than 32 times");
  options.https_hosts.emplace_back(value);
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

Outcome set_parent(Options& options, std::string_view value) {
  const auto process = parse_uint(value);
  if (!process || *process == 0 || *process > std::numeric_limits<int>::max())
    return std::string("wants the number of a process");
  options.parent = static_cast<int>(*process);
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

constexpr Flag kData[] = {
    {"location", 'l', "DIR", "where data is kept, created if missing (default ./data)",
     set_text<&Options::location>},
    {"inMemoryPersistence", 0, "", "keep nothing", set_bool<&Options::in_memory, true>},
    {"extentMemoryLimit", 0, "MB", "accepted with --inMemoryPersistence", accept_memory_limit},
};
constexpr Flag kWhere[] = {
    {"blobHost", 0, "HOST", "", set_host<Listener::kBlob>},
    {"blobPort", 0, "PORT", "Blob, port 10000", set_port<Listener::kBlob>},
    {"queueHost", 0, "HOST", "", set_host<Listener::kQueue>},
    {"queuePort", 0, "PORT", "Queue, port 10001", set_port<Listener::kQueue>},
    {"tableHost", 0, "HOST", "", set_host<Listener::kTable>},
    {"tablePort", 0, "PORT", "Table, port 10002", set_port<Listener::kTable>},
    {"fileHost", 0, "HOST", "", set_host<Listener::kFile>},
    {"filePort", 0, "PORT", "File over REST, port 10003", set_port<Listener::kFile>},
    {"smbHost", 0, "HOST", "", set_host<Listener::kSmb>},
    {"smbPort", 0, "PORT", "File over SMB, port 10445", set_port<Listener::kSmb>},
    {"disableSmb", 0, "", "no SMB", set_bool<&Options::smb, false>},
    {"smbWriteBehind", 0, "MS", "writes over SMB are durable after MS (1000), 0: at once",
     set_smb_write_behind},
    {"webHost", 0, "HOST", "", set_host<Listener::kWeb>},
    {"webPort", 0, "PORT", "static websites, port 10080; only if given", set_port<Listener::kWeb>},
    {"adminHost", 0, "HOST", "", set_host<Listener::kAdmin>},
    {"adminPort", 0, "PORT", "/healthz and /metrics, port 10010", set_port<Listener::kAdmin>},
    {"blobKeepAliveTimeout", 0, "S", "", set_keep_alive<Listener::kBlob>},
    {"queueKeepAliveTimeout", 0, "S", "close idle connections after S seconds",
     set_keep_alive<Listener::kQueue>},
    {"tableKeepAliveTimeout", 0, "S", "", set_keep_alive<Listener::kTable>},
    {"fileKeepAliveTimeout", 0, "S", "likewise: the longest of the four holds for all",
     set_keep_alive<Listener::kFile>},
    {"disableProductStyleUrl", 0, "", "the account is in the path, never in the host name",
     set_bool<&Options::product_style_url, false>},
    {"copyFromPrivateAddresses", 0, "", "copies may read URLs at private addresses",
     set_bool<&Options::copy_from_private, true>},
};
constexpr Flag kTls[] = {
    {"https", 0, "", "certificates by an authority of its own, to be trusted once",
     set_bool<&Options::https, true>},
    {"httpsHost", 0, "HOST", "a host of these certificates; may be repeated", add_https_host, true},
    {"cert", 0, "FILE", "certificate in PEM, or with its key in PFX",
     set_text<&Options::cert_file>},
    {"key", 0, "FILE", "its key in PEM", set_text<&Options::key_file>},
    {"pwd", 0, "PASSWORD", "of the PFX file", set_password},
    {"oauth", 0, "basic|local", "accept bearer tokens; local: issue them, too", set_oauth},
    {"tokenHost", 0, "HOST", "", set_host<Listener::kToken>},
    {"tokenPort", 0, "PORT", "issues them, port 10011", set_port<Listener::kToken>},
};
constexpr Flag kAccounts[] = {
    {"config", 0, "FILE", "accounts and token issuers in JSON", set_text<&Options::config_file>},
    {"setting", 0, "NAME=VALUE", "blobVersioning=true and the like", add_setting, true},
    {"insecureOffLoopback", 0, "", "the well-known key is good from other machines, too",
     set_bool<&Options::insecure_off_loopback, true>},
};
constexpr Flag kOther[] = {
    {"threads", 0, "N", "event loops (default: one per core)", set_threads},
    {"parent", 0, "PID", kUnlisted, set_parent},
    {"silent", 's', "", "no start-up text and no request log on the console",
     set_bool<&Options::silent, true>},
    {"debug", 'd', "FILE", "append a log with the headers of requests to FILE",
     set_text<&Options::debug_file>},
    {"loose", 'L', "", "", accept_loose},
    {"skipApiVersionCheck", 0, "", "", accept_version_check},
    {"disableTelemetry", 0, "", "accepted, without effect", accept_telemetry},
};
constexpr Flag kInstead[] = {
    {"healthcheck", 0, "", "ask the server at --adminPort how it is",
     set_bool<&Options::health_check, true>},
    {"connectionString", 0, "", "print that of each account, with its key, for clients",
     set_bool<&Options::connection_string, true>},
    {"version", 'v', "", "print the version", set_bool<&Options::version, true>},
    {"help", 'h', "", "print this", set_bool<&Options::help, true>},
    {"describeFlags", 0, "", kUnlisted, set_bool<&Options::describe_flags, true>},
};
constexpr Section kSections[] = {
    {"Data", kData},
    {"Listeners (host 127.0.0.1 unless given; port 0 lets the system choose)", kWhere},
    {"HTTPS and tokens", kTls},
    {"Accounts (AZURITE_ACCOUNTS=name:key[:key2];... or --config; else a well-known one on "
     "loopback)",
     kAccounts},
    {"Other", kOther},
    {"Instead of serving", kInstead, false},
};

}  // namespace

std::span<const Section> flag_sections() { return kSections; }

}  // namespace kyanite::server
