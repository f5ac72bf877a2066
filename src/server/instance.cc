#include "server/instance.h"

#include <algorithm>
#include <thread>

#include "base/log.h"
#include "os/descriptors.h"
#include "server/account_reload.h"
#include "server/announcement.h"
#include "server/azurite_text.h"
#include "server/health_check.h"
#include "server/job_table.h"
#include "server/metrics.h"
#include "server/stop_signal.h"

namespace kyanite::server {

namespace {

// How long requests in flight may take to finish once the server is told to stop.
constexpr std::chrono::seconds kDrainGrace{10};
// How often files that may change are looked at, and whether certificates must be made anew.
constexpr std::chrono::seconds kReloadInterval{1};
// How long a health check waits for each event loop. Less than those who ask wait for the answer.
constexpr std::chrono::seconds kLoopPatience{2};

// Of the descriptors that the process may have, the engine's are not for connections.
ConnectionLimits limits_of_connections(const Options& options) {
  const uint64_t descriptors = os::raise_descriptor_limit();
  const uint64_t engine = options.in_memory ? 0 : engine::reserved_descriptors(descriptors);
  const int threads = options.threads > 0 ? options.threads : net::usable_cpus();
  return connection_limits(descriptors, engine, threads);
}

net::Options net_options(const Options& options, const ConnectionLimits& limits) {
  net::Options result;
  result.threads = options.threads;
  result.max_connections = limits.connections;
  // One time-out serves all listeners: the longest that was asked for.
  int longest_s = 0;
  for (Listener listener : kServed) {
    longest_s = std::max(longest_s, options[listener].keep_alive_s.value_or(0));
  }
  if (longest_s > 0) result.timeouts.idle = std::chrono::seconds(longest_s);
  return result;
}

}  // namespace

Instance::Instance(const Settings& settings, OpenStore opened)
    : settings_(settings),
      options_(settings.options),
      opened_(std::move(opened)),
      limits_(limits_of_connections(options_)),
      workers_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      accounts_(settings.accounts),
      context_{*opened_.store, locks_, workers_, clock_, accounts_},
      request_log_(!options_.silent || !options_.debug_file.empty(), !options_.debug_file.empty()),
      server_(net_options(options_, limits_)) {
  context_.settings = settings.account_settings;
  context_.token_rules = settings.token_rules ? &*settings.token_rules : nullptr;
  context_.product_style_url = options_.product_style_url;
}

Result<void, std::string> Instance::prepare() {
  auto certificates = make_certificates(settings_, clock_);
  if (!certificates) return certificates.error();
  certificates_ = std::move(*certificates);
  if (settings_.local_tokens) {
    auto tokens = LocalTokens::open(options_, *settings_.local_tokens, clock_);
    if (!tokens) return tokens.error();
    tokens_ = std::move(*tokens);
  }
  net::ClientOptions client_options;
  client_options.allow_private = options_.copy_from_private;
  client_options.max_at_once = limits_.fetches;
  auto client = net::Client::create(std::move(client_options));
  if (!client) return client.error();
  client_ = std::move(*client);
  context_.fetcher = client_.get();
  host();
  make_admin();
  return {};
}

void Instance::host() {
  hosted_ = host_services(options_, context_, request_log_);
  schedule_ = make_schedule(context_, hosted_);
  if (serves(options_, Listener::kSmb)) smb_.emplace(settings_, context_, hosted_);
}

void Instance::make_admin() {
  admin_.emplace([this] { return find_problem(); }, metrics_sources(),
                 [this] {
                   auto jobs = schedule_->status();
                   if (opened_.engine != nullptr)
                     jobs.push_back(sweep_status(opened_.engine->metrics()));
                   return job_table(jobs);
                 });
  if (const auto* authority = certificates_->authority(); authority != nullptr) {
    authority_page_.emplace(authority->certificate_pem());
    admin_->add("/ca.pem", *authority_page_);
  }
  if (tokens_) tokens_->add_to(*admin_);
}

Task<std::optional<std::string>> Instance::find_problem() {
  const bool turn = co_await server_.loops_turn(kLoopPatience);
  if (!turn) co_return "an event loop hangs";
  const store::Key key(0, 'h', "health");
  const auto found = co_await opened_.store->get(key);
  if (found) co_return std::nullopt;
  co_return std::string("the store fails: ") + store::describe(found.error());
}

std::vector<MetricsSource> Instance::metrics_sources() {
  return {append_process_metrics,
          [this](std::string& out) { append_net_metrics(out, server_.metrics()); },
          [this](std::string& out) { append_client_metrics(out, client_->metrics()); },
          [this](std::string& out) { append_certificate_metric(out, certificates_->context()); },
          [this](std::string& out) {
            if (opened_.engine != nullptr) append_engine_metrics(out, opened_.engine->metrics());
          },
          [this](std::string& out) {
            std::vector<const front::Metrics*> services;
            services.reserve(hosted_.size());
            for (const auto& service : hosted_) services.push_back(&service->metrics);
            front::Metrics::write(out, services);
          },
          [this](std::string& out) {
            if (smb_) append_smb_metrics(out, smb_->drive);
          },
          [this](std::string& out) { append_job_metrics(out, schedule_->status()); }};
}

Result<void, std::string> Instance::note(Listener listener, Endpoint endpoint, bool tls) {
  if (!endpoint) return endpoint.error() + where_flags(listener);
  started_.push_back({listener, *endpoint, tls});
  return {};
}

Result<void, std::string> Instance::listen_for_services() {
  const net::TlsContext* tls = certificates_->context();
  for (auto& service : hosted_) {
    const ListenOptions& where = options_[service->listener];
    auto opened = server_.listen(where.host, where.port, service->front, tls);
    if (auto noted = note(service->listener, std::move(opened), tls != nullptr); !noted)
      return noted;
    if (service->listener == Listener::kWeb) continue;  // Copies have their sources elsewhere.
    context_.endpoints.add(*service->service, where.host, started_.back().endpoint.port);
  }
  return {};
}

Result<void, std::string> Instance::listen_for_others() {
  if (smb_) {
    const ListenOptions& where = options_[Listener::kSmb];
    auto opened = server_.listen(where.host, where.port, smb_->protocol);
    if (auto noted = note(Listener::kSmb, std::move(opened), false); !noted) return noted;
  }
  if (serves(options_, Listener::kAdmin)) {
    const ListenOptions& where = options_[Listener::kAdmin];
    auto opened = server_.listen(where.host, where.port, *admin_, nullptr, limits_.admin);
    if (auto noted = note(Listener::kAdmin, std::move(opened), false); !noted) return noted;
  }
  if (tokens_) {
    const ListenOptions& where = options_[Listener::kToken];
    auto opened = server_.listen(where.host, where.port, tokens_->service(),
                                 certificates_->context(), limits_.admin);
    if (auto noted = note(Listener::kToken, std::move(opened), true); !noted) return noted;
    tokens_->set_port(started_.back().endpoint.port);
    context_.token_rules = tokens_->rules();
  }
  return {};
}

Result<void, std::string> Instance::listen() {
  if (auto services = listen_for_services(); !services) return services;
  return listen_for_others();
}

void Instance::start() {
  server_.start();
  open_control();
  runner_.emplace(*schedule_, clock_);
  if (certificates_->context() != nullptr)
    certificate_checks_.emplace("certificates", kReloadInterval,
                                [this] { certificates_->check(); });
}

void Instance::open_control() {
  if (opened_.engine == nullptr) return;
  auto listening = Control::start(*opened_.engine, options_.location);
  if (listening) {
    control_ = std::move(*listening);
  } else {
    log_warning("this server can be neither backed up nor checked while it runs: " +
                listening.error().what);
  }
}

// Tells systemd that the server lives, as long as every loop has turned since the last time and its
// own pages are answered, with whatever status.
std::unique_ptr<Periodic> Instance::start_watchdog(const Supervisor& supervisor) {
  if (!supervisor.watchdog()) return nullptr;
  const auto interval = *supervisor.watchdog() / 3;
  std::optional<net::Endpoint> admin;
  if (const Started* page = find_started(started_, Listener::kAdmin)) admin = page->endpoint;
  net::LoopVisits& visits = server_.visits();
  return std::make_unique<Periodic>(
      "watchdog", interval,
      [&supervisor, &visits, interval, admin, round = visits.send()]() mutable {
        if (!visits.is_back(round)) return;
        round = visits.send();
        if (!admin || ask_health(admin->host, admin->port, interval)) supervisor.tell("WATCHDOG=1");
      });
}

void Instance::attend_until_stopped() {
  announce(settings_, started_, *certificates_, tokens_.get());
  AccountReload account_reload(settings_, accounts_, [this] {
    for (const std::string& account : accounts_.names()) schedule_->add_account(account);
    if (smb_) smb_->drive.accounts_changed();
  });
  std::optional<Periodic> reloads;
  if (!options_.config_file.empty())
    reloads.emplace("reload", kReloadInterval, [&] { account_reload.check(); });
  const Supervisor supervisor = Supervisor::of_environment();
  const auto watchdog = start_watchdog(supervisor);
  supervisor.tell("READY=1");
  wait_for_stop_signal();
  supervisor.tell("STOPPING=1");
  print(azurite_closing_text(options_, started_));
}

void Instance::stop() {
  control_.reset();
  schedule_->stop();
  client_->stop();
  server_.drain_and_stop(kDrainGrace);
  print(azurite_closed_text(options_, started_));
}

}  // namespace kyanite::server
