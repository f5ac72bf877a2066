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
#include "server/account_reload.h"
#include "server/admin.h"
#include "server/azurite_text.h"
#include "server/certificates.h"
#include "server/commands.h"
#include "server/connection_limits.h"
#include "server/control.h"
#include "server/drive_shares.h"
#include "server/flags.h"
#include "server/health_check.h"
#include "server/job_table.h"
#include "server/local_tokens.h"
#include "server/metrics.h"
#include "server/open_store.h"
#include "server/periodic.h"
#include "server/root_certificates.h"
#include "server/settings.h"
#include "server/start_text.h"
#include "server/supervisor.h"
#include "table/service.h"
#include "tree/draft_keeper.h"

namespace kyanite::server {

namespace {

// How long requests in flight may take to finish once the server is told to stop.
constexpr std::chrono::seconds kDrainGrace{10};
// How often files that may change are looked at, and whether certificates must be made anew.
constexpr std::chrono::seconds kReloadInterval{1};

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
  auto schedule =
      std::make_unique<jobs::Schedule>(context.store, context.clock, context.accounts.names());
  for (const auto& each : hosted) schedule->add(each->service->make_jobs(context));
  return schedule;
}

// Opens every listener. What was opened before an error is closed with the server.
Result<std::vector<Started>, std::string> listen_all(net::Server& server, const Settings& settings,
                                                     const net::TlsContext* tls,
                                                     std::vector<std::unique_ptr<Hosted>>& hosted,
                                                     net::Protocol* smb, Admin& admin,
                                                     LocalTokens* tokens,
                                                     size_t admin_connections) {
  std::vector<Started> started;
  for (auto& service : hosted) {
    const ListenOptions& where = settings.options[service->listener];
    auto endpoint = server.listen(where.host, where.port, service->front, tls);
    if (!endpoint) return Failure{endpoint.error() + where_flags(service->listener)};
    started.push_back({service->listener, *endpoint, tls != nullptr});
  }
  if (smb != nullptr) {
    const ListenOptions& where = settings.options[Listener::kSmb];
    auto endpoint = server.listen(where.host, where.port, *smb);
    if (!endpoint) return Failure{endpoint.error() + where_flags(Listener::kSmb)};
    started.push_back({Listener::kSmb, *endpoint, false});
  }
  if (serves(settings.options, Listener::kAdmin)) {
    const ListenOptions& where = settings.options[Listener::kAdmin];
    auto endpoint = server.listen(where.host, where.port, admin, nullptr, admin_connections);
    if (!endpoint) return Failure{endpoint.error() + where_flags(Listener::kAdmin)};
    started.push_back({Listener::kAdmin, *endpoint, false});
  }
  if (tokens != nullptr) {
    const ListenOptions& issuer = settings.options[Listener::kToken];
    auto at = server.listen(issuer.host, issuer.port, tokens->service(), tls, admin_connections);
    if (!at) return Failure{at.error() + where_flags(Listener::kToken)};
    started.push_back({Listener::kToken, *at, true});
    tokens->set_port(at->port);
  }
  return started;
}

const Started* find_started(const std::vector<Started>& started, Listener listener) {
  const auto found = std::find_if(started.begin(), started.end(),
                                  [&](const Started& each) { return each.listener == listener; });
  return found == started.end() ? nullptr : &*found;
}

// How to use what the server vouches for itself.
std::string own_issuer_text(const Settings& settings, const std::vector<Started>& started,
                            const Certificates& certificates, const LocalTokens* tokens) {
  const auto url = [&](Listener listener) {
    const Started* found = find_started(started, listener);
    return found != nullptr ? url_of(*found) : std::string();
  };
  std::string text;
  if (certificates.authority() != nullptr) {
    const Options& options = settings.options;
    const std::string file =
        options.in_memory ? "" : std::filesystem::absolute(options.location) / "issuer/ca.pem";
    text += trust_text(file, url(Listener::kAdmin) + "/ca.pem");
  }
  if (tokens != nullptr) {
    text += tokens_text(url(Listener::kToken), url(Listener::kAdmin), tokens->identity_header());
  }
  return text;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void print_start_text(const Settings& settings, const std::vector<Started>& started,
                      const std::string& more) {
  print(azurite_start_text(settings.options, started));
  if (settings.options.silent) return;
  const Options& options = settings.options;
  const std::string location =
      options.in_memory ? "memory only" : std::filesystem::absolute(options.location).string();
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  print(start_text(started, settings.accounts, location, on_terminal, more));
}

// On standard error whatever else is silent or logged elsewhere.
void warn_of_open_doors(const Settings& settings) {
  for (const std::string& notice :
       {open_to_all_notice(settings), std::string(forgeable_tokens_notice(settings))}) {
    if (notice.empty()) continue;
    std::fprintf(stderr, "kyanite: %s\n", notice.c_str());
    if (!settings.options.debug_file.empty()) log_warning(notice);
  }
}

// Tells systemd that the server lives, as long as its own pages are answered, with whatever status:
// a loop that hangs answers nothing. Null when systemd does not ask.
std::unique_ptr<Periodic> start_watchdog(const Supervisor& supervisor,
                                         const std::vector<Started>& started) {
  if (!supervisor.watchdog()) return nullptr;
  const auto interval = *supervisor.watchdog() / 3;
  std::optional<net::Endpoint> admin;
  if (const Started* page = find_started(started, Listener::kAdmin)) admin = page->endpoint;
  return std::make_unique<Periodic>("watchdog", interval, [&supervisor, interval, admin] {
    if (!admin || ask_health(admin->host, admin->port, interval)) supervisor.tell("WATCHDOG=1");
  });
}

// Looks after files that change, and tells systemd how it is, until a signal says to stop.
void attend_until_stopped(const Settings& settings, auth::Accounts& accounts,
                          jobs::Schedule& schedule, const std::vector<Started>& started) {
  AccountReload account_reload(settings, accounts,
                               [&](const std::string& account) { schedule.add_account(account); });
  std::optional<Periodic> reloads;
  if (!settings.options.config_file.empty())
    reloads.emplace("reload", kReloadInterval, [&] { account_reload.check(); });
  const Supervisor supervisor = Supervisor::of_environment();
  const auto watchdog = start_watchdog(supervisor, started);
  supervisor.tell("READY=1");
  wait_for_stop_signal();
  supervisor.tell("STOPPING=1");
  print(azurite_closing_text(settings.options, started));
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
  auth::Accounts accounts(settings.accounts);
  service::Context context{store, locks, workers, clock, accounts};
  context.settings = settings.account_settings;
  const bool debugged = !options.debug_file.empty();
  front::RequestLog request_log(!options.silent || debugged, debugged);
  context.token_rules = settings.token_rules ? &*settings.token_rules : nullptr;
  context.product_style_url = options.product_style_url;
  auto certificates = make_certificates(settings, clock);
  if (!certificates) return fail(certificates.error());
  std::unique_ptr<LocalTokens> tokens;
  if (settings.local_tokens) {
    auto opened_tokens = LocalTokens::open(options, *settings.local_tokens, clock);
    if (!opened_tokens) return fail(opened_tokens.error());
    tokens = std::move(*opened_tokens);
  }

  net::ClientOptions client_options;
  client_options.allow_private = options.copy_from_private;
  client_options.max_at_once = limits.fetches;
  auto client = net::Client::create(std::move(client_options));
  if (!client) return fail(client.error());
  context.fetcher = client->get();

  std::vector<std::unique_ptr<Hosted>> hosted;
  for (Listener listener : kServed) {
    if (!serves(options, listener)) continue;
    if (listener == Listener::kSmb) continue;  // It is another protocol of the File service.
    hosted.push_back(std::make_unique<Hosted>(listener, context, request_log));
  }
  const auto schedule = make_schedule(context, hosted);
  std::optional<HostedDrive> smb;
  if (serves(options, Listener::kSmb)) smb.emplace(settings, context, file_service_of(hosted));
  std::optional<TextPage> authority_page;
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
          [&](std::string& out) { append_certificate_metric(out, (*certificates)->context()); },
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

  if (const auto* authority = (*certificates)->authority(); authority != nullptr) {
    authority_page.emplace(authority->certificate_pem());
    admin->add("/ca.pem", *authority_page);
  }
  if (tokens) tokens->add_to(*admin);

  auto started = listen_all(server, settings, (*certificates)->context(), hosted,
                            smb ? &smb->protocol : nullptr, *admin, tokens.get(), limits.admin);
  if (!started) return fail(started.error());
  if (tokens) context.token_rules = tokens->rules();
  for (size_t i = 0; i < hosted.size(); ++i) {
    const ListenOptions& where = options[hosted[i]->listener];
    if (hosted[i]->listener == Listener::kWeb) continue;  // Copies have their sources elsewhere.
    context.endpoints.add(*hosted[i]->service, where.host, (*started)[i].endpoint.port);
  }
  server.start();
  std::unique_ptr<Control> control;
  if (opened->engine != nullptr) {
    auto listening = Control::start(*opened->engine, options.location);
    if (listening) {
      control = std::move(*listening);
    } else {
      log_warning("this server can be neither backed up nor checked while it runs: " +
                  listening.error().what);
    }
  }
  const jobs::Runner runner(*schedule, clock);
  std::optional<Periodic> certificate_checks;
  if ((*certificates)->context() != nullptr)
    certificate_checks.emplace("certificates", kReloadInterval, [&] { (*certificates)->check(); });
  for (const std::string& notice : notices(options)) log_warning(notice);
  warn_of_open_doors(settings);
  flush_log();  // What is said of the start is said before it.
  print_start_text(settings, *started,
                   own_issuer_text(settings, *started, **certificates, tokens.get()));

  attend_until_stopped(settings, accounts, *schedule, *started);
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
  print(azurite_closed_text(options, *started));
  return EXIT_SUCCESS;
}

// What is wanted instead of serving; nothing when the server is to serve.
std::optional<int> answer(const Options& options) {
  if (options.health_check) {
    const auto health = check_health(options);
    return health ? EXIT_SUCCESS : fail(health.error());
  }
  if (options.help) {
    print(help_text());
  } else if (options.version) {
    print("kyanite " + std::string(kVersion) + "\n");
  } else if (options.describe_flags) {
    print(describe_flags());
  } else {
    return std::nullopt;
  }
  return EXIT_SUCCESS;
}

int serve(const std::vector<std::string>& arguments, Personality personality) {
  const Environment environment = process_environment();
  auto options = parse_options(arguments, environment, personality);
  if (!options) return fail(options.error());
  if (const auto answered = answer(*options)) return *answered;
  std::string accounts;
  if (auto read = read_environment_accounts(environment, accounts); !read)
    return fail(read.error());
  auto settings = make_settings(std::move(*options), kServed, accounts);
  if (!settings) return fail(settings.error());
  if (!set_up_log(settings->options)) return fail("cannot write " + settings->options.debug_file);

  find_root_certificates();
  // Blocked in every thread started from here on; run() waits for them.
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return run(*settings);
}

int serve_as_kyanite(const std::vector<std::string>& arguments) {
  return serve(arguments, Personality::kKyanite);
}

// What the first word may ask for. Each gets the words behind it and answers with an exit code. A
// command line that begins with a flag, or is empty, asks to serve.
struct Subcommand {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr Subcommand kSubcommands[] = {
    {"serve", serve_as_kyanite},  {"check", check_command},     {"backup", backup_command},
    {"restore", restore_command}, {"migrate", migrate_command}, {"import", import_command},
};

// The first word may also be one of the names by which the program can be called, as the command of
// a container is.
int dispatch(std::string_view program, std::vector<std::string> arguments) {
  auto personality = personality_of(program).value_or(Personality::kKyanite);
  if (arguments.empty()) return serve(arguments, personality);
  const std::vector<std::string> behind(arguments.begin() + 1, arguments.end());
  for (const Subcommand& subcommand : kSubcommands) {
    if (arguments[0] == subcommand.name) return subcommand.run(behind);
  }
  if (const auto named = personality_of(arguments[0])) return serve(behind, *named);
  return serve(arguments, personality);
}

}  // namespace

}  // namespace kyanite::server

int main(int argc, char** argv) {
  const int code = kyanite::server::dispatch(argv[0], {argv + 1, argv + argc});
  kyanite::flush_log();
  return code;
}
