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
  return listener != Listener::kSmb && listener != Listener::kAdmin;
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

std::string start_text(const std::vector<Started>& started, const AccountList& accounts,
                       const std::string& location, bool show_keys) {
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
  return text + "Ready. Ctrl-C stops.\n";
}

}  // namespace kyanite::server
