#include "server/start_text.h"

#include "base/bytes.h"

namespace kyanite::server {

namespace {

// As the start-up text and connection strings spell it: "Blob" of BlobEndpoint.
std::string title(Listener listener) {
  if (listener == Listener::kSmb) return "SMB";
  std::string text(name(listener));
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// Its address is one of an account's in its path.
bool is_http_service(Listener listener) {
  return listener != Listener::kSmb && listener != Listener::kAdmin && listener != Listener::kToken;
}

// An address that means every address is shown as the loopback one, which clients can use.
std::string usable_host(const Started& started) {
  const std::string& host = started.endpoint.host;
  if (host == "0.0.0.0") return "127.0.0.1";
  if (host == "::") return "::1";
  return host;
}

}  // namespace

std::string url_of(const Started& started) {
  std::string host = usable_host(started);
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  const std::string_view scheme = started.listener == Listener::kSmb ? "smb"
                                  : started.tls                      ? "https"
                                                                     : "http";
  return std::string(scheme) + "://" + host + ":" + std::to_string(started.endpoint.port);
}

std::string mount_line(const Started& started, const auth::Account& account, bool show_key) {
  const std::string key =
      show_key ? base64(account.keys[0].bytes()) : "'<key of " + account.name + ">'";
  return "mount -t cifs //" + usable_host(started) +
         "/SHARE /mnt -o port=" + std::to_string(started.endpoint.port) +
         ",username=" + account.name + ",password=" + key;
}

std::string connection_string(const std::vector<Started>& started, const auth::Account& account,
                              bool show_key) {
  std::string text = "DefaultEndpointsProtocol=";
  const bool tls = !started.empty() && started[0].tls;
  text.append(tls ? "https" : "http").append(";AccountName=").append(account.name);
  text.append(";AccountKey=");
  text.append(show_key ? base64(account.keys[0].bytes()) : "<key of " + account.name + ">");
  for (const Started& service : started) {
    if (!is_http_service(service.listener) || service.listener == Listener::kWeb) continue;
    text.append(";").append(title(service.listener)).append("Endpoint=");
    text.append(url_of(service)).append("/").append(account.name);
  }
  return text + ";";
}

Result<std::vector<std::string>, std::string> connection_strings(const Options& options,
                                                                 std::span<const Listener> served,
                                                                 const AccountList& accounts) {
  const bool tls = options.https || !options.cert_file.empty();
  std::vector<Started> places;
  for (const Listener listener : served) {
    if (!serves(options, listener) || !is_http_service(listener)) continue;
    const ListenOptions& where = options[listener];
    if (where.port == 0) {
      return Failure{"which port --" + std::string(name(listener)) +
                     "Port 0 is, only the server that is started with it says"};
    }
    places.push_back({listener, {where.host, where.port}, tls});
  }
  std::vector<std::string> strings;
  strings.reserve(accounts.size());
  for (const auth::Account& account : accounts)
    strings.push_back(connection_string(places, account, true));
  return strings;
}

std::string start_text(const std::vector<Started>& started, const AccountList& accounts,
                       const std::string& location, bool show_keys, std::string_view more) {
  std::string text("Kyanite ");
  text.append(kVersion).append(", data in ").append(location).append("\n");
  for (const Started& service : started) {
    std::string label = title(service.listener);
    label.resize(8, ' ');
    text.append("  ").append(label).append(url_of(service));
    if (service.listener == Listener::kSmb) text += "/SHARE";
    if (is_http_service(service.listener)) text.append("/").append(accounts[0].name);
    text += service.listener == Listener::kAdmin ? "  (/healthz, /metrics)\n" : "\n";
  }
  for (const auth::Account& account : accounts) {
    text.append("Connection string of ").append(account.name).append(":\n  ");
    const bool shown = show_keys || is_well_known({account});
    text += connection_string(started, account, shown) + "\n";
    for (const Started& service : started) {
      if (service.listener != Listener::kSmb) continue;
      text.append("Share SHARE of ")
          .append(account.name)
          .append(" as a drive, on Linux as root:\n  ");
      text += mount_line(service, account, shown) + "\n";
    }
  }
  return text.append(more).append("Ready. Ctrl-C stops.\n");
}

std::string trust_text(const std::string& ca_file, const std::string& ca_url) {
  std::string text("HTTPS by an authority of this server's own, which clients must trust:\n");
  const std::string file = ca_file.empty() ? "ca.pem" : ca_file;
  if (ca_file.empty()) text.append("  get it      curl -so ca.pem ").append(ca_url).append("\n");
  text.append("  system      sudo cp ").append(file);
  text.append(" /usr/local/share/ca-certificates/kyanite.crt && sudo update-ca-certificates\n");
  text.append("  Node.js     export NODE_EXTRA_CA_CERTS=").append(file).append("\n");
  text.append("  Python, az  export REQUESTS_CA_BUNDLE=").append(file).append("\n");
  text.append("  curl        curl --cacert ").append(file).append("\n");
  return text;
}

std::string tokens_text(const std::string& issuer_url, const std::string& admin_url,
                        const std::string& identity_header) {
  std::string text(
      "Tokens for DefaultAzureCredential, as an application or as a managed identity:\n");
  text.append("  export AZURE_AUTHORITY_HOST=").append(issuer_url);
  text.append(" AZURE_TENANT_ID=adfs AZURE_CLIENT_ID=app AZURE_CLIENT_SECRET=any\n");
  text.append("  export IDENTITY_ENDPOINT=").append(admin_url).append("/msi/token");
  text.append(" IDENTITY_HEADER=").append(identity_header).append("\n");
  text.append("  export AZURE_POD_IDENTITY_AUTHORITY_HOST=").append(admin_url).append("\n");
  return text;
}

}  // namespace kyanite::server
