#include "server/hosted.h"

#include <algorithm>

#include "blob/website.h"
#include "datalake/service.h"
#include "queue/service.h"
#include "table/service.h"

namespace kyanite::server {

namespace {

std::unique_ptr<service::Service> make_service(Listener listener) {
  if (listener == Listener::kQueue) return std::make_unique<queue::QueueService>();
  if (listener == Listener::kTable) return std::make_unique<table::TableService>();
  if (listener == Listener::kFile) return std::make_unique<file::FileService>();
  if (listener == Listener::kWeb) return std::make_unique<blob::WebsiteService>();
  CHECK(listener == Listener::kBlob);
  return std::make_unique<datalake::LakeService>();
}

const file::FileService& file_service_of(const AllHosted& hosted) {
  const auto found = std::find_if(hosted.begin(), hosted.end(), [](const auto& each) {
    return each->listener == Listener::kFile;
  });
  CHECK(found != hosted.end());
  return static_cast<const file::FileService&>(*(*found)->service);
}

int64_t write_behind(const Settings& settings) {
  return int64_t{settings.options.smb_write_behind_ms} * (kTicksPerSecond / 1000);
}

}  // namespace

Hosted::Hosted(Listener on, service::Context& context, front::RequestLog& log)
    : listener(on),
      service(make_service(on)),
      metrics(name(on), service->operations()),
      front(*service, context, log, metrics) {}

AllHosted host_services(const Options& options, service::Context& context, front::RequestLog& log) {
  AllHosted hosted;
  for (const Listener listener : kServed) {
    if (listener == Listener::kSmb || !serves(options, listener)) continue;
    hosted.push_back(std::make_unique<Hosted>(listener, context, log));
  }
  return hosted;
}

HostedDrive::HostedDrive(const Settings& settings, service::Context& context,
                         const AllHosted& hosted)
    : HostedDrive(settings, context, file_service_of(hosted)) {}

HostedDrive::HostedDrive(const Settings& settings, service::Context& context,
                         const file::FileService& files)
    : shares(context.accounts, settings.smb_rules, files.open_files(), files.usage()),
      drive(context.store, context.locks, context.workers, context.clock, shares),
      remover(drive),
      protocol(drive),
      keeper(files.open_files(), context.clock, write_behind(settings)) {
  drive.write_behind_ticks = write_behind(settings);
  files.open_files().set_remover(&remover);
}

std::unique_ptr<jobs::Schedule> make_schedule(service::Context& context, const AllHosted& hosted) {
  auto schedule =
      std::make_unique<jobs::Schedule>(context.store, context.clock, context.accounts.names());
  for (const auto& each : hosted) schedule->add(each->service->make_jobs(context));
  return schedule;
}

}  // namespace kyanite::server
