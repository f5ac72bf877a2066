// What the server prints once it serves: where everything is, ready to be pasted into a client.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/server.h"
#include "server/accounts.h"
#include "server/options.h"

namespace kyanite::server {

struct Started {
  Listener listener;
  net::Endpoint endpoint;
  bool tls = false;
};

// "http://127.0.0.1:10000". An address that means every address is shown as the loopback one, which
// clients can use.
std::string url_of(const Started& started);

// The command that makes the account's share SHARE a drive, ready to be pasted.
std::string mount_line(const Started& started, const auth::Account& account, bool show_key);

// One string for all services that are served, as the SDKs, az and Storage Explorer take it.
// Without `show_key` a placeholder stands for the key.
std::string connection_string(const std::vector<Started>& started, const auth::Account& account,
                              bool show_key);

// Those of a server with such options, each with its key, one an account. The error is a
// sentence for the user.
Result<std::vector<std::string>, std::string> connection_strings(const Options& options,
                                                                 std::span<const Listener> served,
                                                                 const AccountList& accounts);

// With `show_keys` off, keys stay out of the text, so that they do not end up in logs; the
// well-known one is always shown. `more` are lines that come before the last one.
std::string start_text(const std::vector<Started>& started, const AccountList& accounts,
                       const std::string& location, bool show_keys, std::string_view more = {});

// How clients come to trust the authority whose certificate is in the file, or, without a file, at
// the URL.
std::string trust_text(const std::string& ca_file, const std::string& ca_url);

// What DefaultAzureCredential reads from the environment to get tokens of this server.
std::string tokens_text(const std::string& issuer_url, const std::string& admin_url,
                        const std::string& identity_header);

}  // namespace kyanite::server
