// One server from its settings to its end: its parts, in the order in which one needs another, and
// the steps in which they come and go.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/runner.h"
#include "net/client.h"
#include "net/server.h"
#include "server/admin.h"
#include "server/certificates.h"
#include "server/connection_limits.h"
#include "server/control.h"
#include "server/hosted.h"
#include "server/local_tokens.h"
#include "server/open_store.h"
#include "server/periodic.h"
#include "server/settings.h"
#include "server/start_text.h"
#include "server/supervisor.h"

namespace kyanite::server {

// The steps are taken once each, in this order, by one thread. Errors are sentences for whoever
// starts the server, which then goes no further.
class Instance {
 public:
  // The settings outlive it.
  Instance(const Settings& settings, OpenStore opened);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // What may fail before anything is served: certificates, keys, the client for copies.
  Result<void, std::string> prepare();
  // Takes the ports, and knows from then on where everything is.
  Result<void, std::string> listen();
  // Serves, and does what nobody waits for.
  void start();
  // Says so, and looks after files that change and after what systemd wants to hear, until a signal
  // says to stop.
  void attend_until_stopped();
  // Requests in flight are finished.
  void stop();

 private:
  using Endpoint = Result<net::Endpoint, std::string>;

  void host();
  void make_admin();
  std::vector<MetricsSource> metrics_sources();
  Task<std::optional<std::string>> find_problem();
  // Notes where the listener is, if it could be opened.
  Result<void, std::string> note(Listener listener, Endpoint endpoint, bool tls);
  Result<void, std::string> listen_for_services();
  Result<void, std::string> listen_for_others();
  void open_control();
  // Null when systemd does not ask.
  std::unique_ptr<Periodic> start_watchdog(const Supervisor& supervisor);

  // Destroyed in reverse: the server first, so that nothing is in use any more when it goes.
  const Settings& settings_;
  const Options& options_;
  const OpenStore opened_;
  const ConnectionLimits limits_;
  SystemClock clock_;
  store::KeyedLocks locks_;
  Workers workers_;
  auth::Accounts accounts_;
  service::Context context_;
  front::RequestLog request_log_;
  std::unique_ptr<Certificates> certificates_;
  std::unique_ptr<LocalTokens> tokens_;  // Null unless the server issues them.
  std::unique_ptr<net::Client> client_;
  AllHosted hosted_;
  std::unique_ptr<jobs::Schedule> schedule_;
  std::optional<HostedDrive> smb_;
  std::optional<TextPage> authority_page_;
  std::optional<Admin> admin_;
  net::Server server_;
  std::vector<Started> started_;
  std::unique_ptr<Control> control_;
  std::optional<jobs::Runner> runner_;
  std::optional<Periodic> certificate_checks_;
};

}  // namespace kyanite::server
