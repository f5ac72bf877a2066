// Reads the settings, opens the store, connects services to listeners, and serves until told to
// stop.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/log.h"
#include "blob/website.h"
#include "datalake/service.h"
#include "drive/durable.h"
#include "drive/serve.h"
#include "file/service.h"
#include "front/front.h"
#include "jobs/runner.h"
#include "net/client.h"
#include "net/server.h"
#include "os/descriptors.h"
#include "queue/service.h"
#include "server/admin.h"
#include "server/commands.h"
#include "server/connection_limits.h"
#include "server/control.h"
#include "server/drive_shares.h"
#include "server/job_table.h"
#include "server/metrics.h"
#include "server/open_store.h"
#include "server/settings.h"
#include "server/start_text.h"
#include "table/service.h"
#include "tree/draft_keeper.h"

namespace kyanite::server {

namespace {

// How long requests in flight may take to finish once the server is told to stop.
constexpr std::chrono::seconds kDrainGrace{10};

// The services of this build. One more is one more line here and in make_service.
constexpr Listener kServed[] = {Listener::kBlob, Listener::kQueue, Listener::kTable,
                                Listener::kFile, Listener::kSmb,   Listener::kWeb};

std::unique_ptr<service::Service> make_service(Listener listener) {
  if (listener == Listener::kQueue) return std::make_unique<queue::QueueService>();
  if (listener == Listener::kTable) return std::make_unique<table::TableService>();
  if (listener == Listener::kFile) return std::make_unique<file::FileService>();
  if (listener == Listener::kWeb) return std::make_unique<blob::WebsiteService>();
  CHECK(listener == Listener::kBlob);
  return std::make_unique<datalake::LakeService>();
}

// A service with what belongs to it alone.
struct Hosted {
  Hosted(Listener on, service::Context& context, front::RequestLog& log)
      : listener(on),
        service(make_service(on)),
        metrics(name(on), service->operations()),
        front(*service, context, log, metrics) {}

  const Listener listener;
  const std::unique_ptr<service::Service> service;
  front::Metrics metrics;
  front::Front front;
};

// The SMB server, on the files of the File service.
struct HostedDrive {
  HostedDrive(const Settings& settings, service::Context& context, const file::FileService& files)
      : shares(context.accounts, settings.smb_rules, files.open_files(), files.usage()),
        drive(context.store, context.locks, context.workers, context.clock, shares),
        remover(drive),
        protocol(drive),
        keeper(files.open_files(), context.clock, write_behind(settings)) {
    drive.write_behind_ticks = write_behind(settings);
    files.open_files().set_remover(&remover);
  }
  static int64_t write_behind(const Settings& settings) {
    return int64_t{settings.options.smb_write_behind_ms} * (kTicksPerSecond / 1000);
  }

  DriveShares shares;
  drive::Drive drive;
  drive::Remover remover;
  drive::SmbProtocol protocol;
  const tree::DraftKeeper keeper;
};

const file::FileService& file_service_of(const std::vector<std::unique_ptr<Hosted>>& hosted) {
  const auto found = std::find_if(hosted.begin(), hosted.end(), [](const auto& each) {
    return each->listener == Listener::kFile;
  });
  CHECK(found != hosted.end());
  return static_cast<const file::FileService&>(*(*found)->service);
}

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

// False when the log file cannot be opened.
bool set_up_log(const Options& options) {
  if (!options.debug_file.empty()) {
    set_log_level(LogLevel::kDebug);
    return log_to_file(options.debug_file);
  }
  if (options.silent) set_log_level(LogLevel::kWarning);
  return true;
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

int wait_for_stop_signal() {
  const sigset_t signals = stop_signals();
  int signal = 0;
  CHECK(sigwait(&signals, &signal) == 0);
  return signal;
}

int fail(const std::string& why) {
  flush_log();
  std::fprintf(stderr, "kyanite: %s\n", why.c_str());
  return EXIT_FAILURE;
}

// What the services do that no request waits for.
std::unique_ptr<jobs::Schedule> make_schedule(service::Context& context,
                                              const std::vector<std::unique_ptr<Hosted>>& hosted) {
  std::vector<std::string> accounts;
  for (const auto& [name, account] : context.accounts.all()) accounts.push_back(name);
  auto schedule =
      std::make_unique<jobs::Schedule>(context.store, context.clock, std::move(accounts));
  for (const auto& each : hosted) schedule->add(each->service->make_jobs(context));
  return schedule;
}

// Opens every listener. What was opened before an error is closed with the server.
Result<std::vector<Started>, std::string> listen_all(net::Server& server, const Settings& settings,
                                                     std::vector<std::unique_ptr<Hosted>>& hosted,
                                                     net::Protocol* smb, Admin& admin,
                                                     size_t admin_connections) {
  std::vector<Started> started;
  for (auto& service : hosted) {
    const ListenOptions& where = settings.options[service->listener];
    auto endpoint = server.listen(where.host, where.port, service->front, settings.tls.get());
    if (!endpoint) return Failure{endpoint.error() + where_flags(service->listener)};
    started.push_back({service->listener, *endpoint, settings.tls != nullptr});
  }
  if (smb != nullptr) {
    const ListenOptions& where = settings.options[Listener::kSmb];
    auto endpoint = server.listen(where.host, where.port, *smb);
    if (!endpoint) return Failure{endpoint.error() + where_flags(Listener::kSmb)};
    started.push_back({Listener::kSmb, *endpoint, false});
  }
  const ListenOptions& where = settings.options[Listener::kAdmin];
  auto endpoint = server.listen(where.host, where.port, admin, nullptr, admin_connections);
  if (!endpoint) return Failure{endpoint.error() + where_flags(Listener::kAdmin)};
  started.push_back({Listener::kAdmin, *endpoint, false});
  return started;
}

void print_start_text(const Settings& settings, const std::vector<Started>& started) {
  if (settings.options.silent) return;
  const Options& options = settings.options;
  const std::string location =
      options.in_memory ? "memory only" : std::filesystem::absolute(options.location).string();
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  const std::string text = start_text(started, settings.accounts, location, on_terminal);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// On standard error whatever else is silent or logged elsewhere.
void warn_of_forgeable_tokens(const Settings& settings) {
  const std::string notice(forgeable_tokens_notice(settings));
  if (notice.empty()) return;
  std::fprintf(stderr, "kyanite: %s\n", notice.c_str());
  if (!settings.options.debug_file.empty()) log_warning(notice);
}

int run(const Settings& settings) {
  const Options& options = settings.options;
  auto opened = open_store(options);
  if (!opened) return fail(opened.error());
  store::Store& store = *opened->store;

  // Destroyed in reverse: the server first, so that nothing is in use any more when it goes.
  const ConnectionLimits limits = limits_of_connections(options);
  SystemClock clock;
  store::KeyedLocks locks;
  Workers workers(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  const auth::Accounts accounts(settings.accounts);
  service::Context context{store, locks, workers, clock, accounts};
  context.settings = settings.account_settings;
  const bool debugged = !options.debug_file.empty();
  front::RequestLog request_log(!options.silent || debugged, debugged);
  context.token_rules = settings.token_rules ? &*settings.token_rules : nullptr;
  context.product_style_url = options.product_style_url;

  net::ClientOptions client_options;
  client_options.allow_private = options.copy_from_private;
  client_options.max_at_once = limits.fetches;
  auto client = net::Client::create(std::move(client_options));
  if (!client) return fail(client.error());
  context.fetcher = client->get();

  std::vector<std::unique_ptr<Hosted>> hosted;
  for (Listener listener : kServed) {
    // Websites are open to anybody, so they are served to those who ask for it only.
    if (listener == Listener::kWeb && !options[listener].named) continue;
    if (listener == Listener::kSmb) continue;  // It is another protocol of the File service.
    hosted.push_back(std::make_unique<Hosted>(listener, context, request_log));
  }
  const auto schedule = make_schedule(context, hosted);
  std::optional<HostedDrive> smb;
  if (options.smb) smb.emplace(settings, context, file_service_of(hosted));
  std::optional<Admin> admin;
  net::Server server(net_options(options, limits));
  admin.emplace(
      [&store]() -> Task<std::optional<std::string>> {
        const auto found = co_await store.get(store::Key(0, 'h', "health"));
        if (found) co_return std::nullopt;
        co_return std::string("the store fails: ") + store::describe(found.error());
      },
      std::vector<MetricsSource>{
          append_process_metrics,
          [&](std::string& out) { append_net_metrics(out, server.metrics()); },
          [&](std::string& out) { append_client_metrics(out, (*client)->metrics()); },
          [&](std::string& out) {
            if (opened->engine != nullptr) append_engine_metrics(out, opened->engine->metrics());
          },
          [&](std::string& out) {
            std::vector<const front::Metrics*> services;
            services.reserve(hosted.size());
            for (const auto& service : hosted) services.push_back(&service->metrics);
            front::Metrics::write(out, services);
          },
          [&](std::string& out) {
            if (smb) append_smb_metrics(out, smb->drive);
          },
          [&](std::string& out) { append_job_metrics(out, schedule->status()); }},
      [&] {
        auto jobs = schedule->status();
        if (opened->engine != nullptr) jobs.push_back(sweep_status(opened->engine->metrics()));
        return job_table(jobs);
      });

  auto started =
      listen_all(server, settings, hosted, smb ? &smb->protocol : nullptr, *admin, limits.admin);
  if (!started) return fail(started.error());
  for (size_t i = 0; i < hosted.size(); ++i) {
    const ListenOptions& where = options[hosted[i]->listener];
    if (hosted[i]->listener == Listener::kWeb) continue;  // Copies have their sources elsewhere.
    context.endpoints.add(*hosted[i]->service, where.host, (*started)[i].endpoint.port);
  }
  server.start();
  std::unique_ptr<Control> control;
  if (opened->engine != nullptr) {
    auto listening = Control::start(*opened->engine, options.location);
    if (!listening) return fail(listening.error().what);
    control = std::move(*listening);
  }
  const jobs::Runner runner(*schedule, clock);
  for (const std::string& notice : notices(options)) log_warning(notice);
  warn_of_forgeable_tokens(settings);
  flush_log();  // What is said of the start is said before it.
  print_start_text(settings, *started);

  wait_for_stop_signal();
  // Whoever is impatient says so again. Nothing acknowledged is lost by it.
  std::thread([] {
    const int signal = wait_for_stop_signal();
    flush_log();
    _exit(128 + signal);
  }).detach();
  control.reset();
  schedule->stop();
  (*client)->stop();
  server.drain_and_stop(kDrainGrace);
  return EXIT_SUCCESS;
}

int start(const std::vector<std::string>& arguments) {
  auto options = parse_options(arguments);
  if (!options) return fail(options.error());
  if (options->help || options->version) {
    const std::string version = "kyanite " + std::string(kVersion) + "\n";
    std::fputs(options->help ? std::string(help_text()).c_str() : version.c_str(), stdout);
    return EXIT_SUCCESS;
  }
  const char* accounts = std::getenv("AZURITE_ACCOUNTS");
  auto settings = make_settings(std::move(*options), kServed, accounts != nullptr ? accounts : "");
  if (!settings) return fail(settings.error());
  if (!set_up_log(settings->options)) return fail("cannot write " + settings->options.debug_file);

  // Blocked in every thread started from here on; run() waits for them.
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return run(*settings);
}

// What the first word may ask for. Each gets the words behind it and answers with an exit code. A
// command line that begins with a flag, or is empty, asks to serve.
struct Subcommand {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Subcommand kSubcommands[] = {
    {"serve", start},
    {"check", check_command},
    {"backup", backup_command},
    {"restore", restore_command},
    {"migrate", migrate_command},
    {"import", import_command},
};

int dispatch(std::vector<std::string> arguments) {
  for (const Subcommand& subcommand : kSubcommands) {
    if (arguments.empty() || arguments[0] != subcommand.name) continue;
    arguments.erase(arguments.begin());
    return subcommand.run(arguments);
  }
  return start(arguments);
}

}  // namespace

}  // namespace kyanite::server

int main(int argc, char** argv) {
  const int code = kyanite::server::dispatch(std::vector<std::string>(argv + 1, argv + argc));
  kyanite::flush_log();
  return code;
}
