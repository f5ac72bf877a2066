#include "server/azurite_text.h"

namespace kyanite::server {

namespace {

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// "Azurite Blob service" of each service that Azurite has; empty for others.
std::string subject(Listener listener) {
  if (listener == Listener::kBlob) return "Azurite Blob service";
  if (listener == Listener::kQueue) return "Azurite Queue service";
  if (listener == Listener::kTable) return "Azurite Table service";
  return "";
}

// A line for each service.
template <class Line>
std::string each_service(const Options& options, const std::vector<Started>& started, Line line) {
  std::string text;
  if (options.personality == Personality::kKyanite) return text;
  for (const Started& service : started) {
    const std::string who = subject(service.listener);
    if (!who.empty()) text += line(who, service);
  }
  return text;
}

}  // namespace

std::string azurite_start_text(const Options& options, const std::vector<Started>& started) {
  return each_service(options, started, [&](const std::string& who, const Started& service) {
    const std::string scheme = service.tls ? "https://" : "http://";
    const ListenOptions& wanted = options[service.listener];
    const std::string asked = in_brackets(wanted.host) + ":" + std::to_string(wanted.port);
    const std::string got =
        in_brackets(service.endpoint.host) + ":" + std::to_string(service.endpoint.port);
    if (options.personality == Personality::kAzurite) {
      return who + " is starting at " + scheme + asked + "\n" + who +
             " is successfully listening at " + scheme + got + "\n";
    }
    const std::string starting = who + " is starting on " + asked + "\n";
    if (service.listener == Listener::kTable) {
      return starting + who + " successfully started on " + asked + "\n";
    }
    return starting + who + " successfully listens on " + scheme + got + "\n";
  });
}

std::string azurite_closing_text(const Options& options, const std::vector<Started>& started) {
  return each_service(options, started, [](const std::string& who, const Started&) {
    return who + " is closing...\n";
  });
}

std::string azurite_closed_text(const Options& options, const std::vector<Started>& started) {
  return each_service(options, started, [](const std::string& who, const Started&) {
    return who + " successfully closed\n";
  });
}

}  // namespace kyanite::server
