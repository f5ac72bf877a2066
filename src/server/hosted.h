// The services of this build, each with what belongs to it alone.
#pragma once

#include <memory>
#include <vector>

#include "drive/durable.h"
#include "drive/serve.h"
#include "file/service.h"
#include "front/front.h"
#include "jobs/schedule.h"
#include "server/drive_shares.h"
#include "server/options.h"
#include "server/settings.h"
#include "service/service.h"
#include "tree/draft_keeper.h"

namespace kyanite::server {

// One more is one more line here and in hosted.cc.
inline constexpr Listener kServed[] = {Listener::kBlob, Listener::kQueue, Listener::kTable,
                                       Listener::kFile, Listener::kSmb,   Listener::kWeb};

struct Hosted {
  Hosted(Listener on, service::Context& context, front::RequestLog& log);

  const Listener listener;
  const std::unique_ptr<service::Service> service;
  front::Metrics metrics;
  front::Front front;
};
using AllHosted = std::vector<std::unique_ptr<Hosted>>;

// Those that the options want, but SMB, which is another protocol of the File service.
AllHosted host_services(const Options& options, service::Context& context, front::RequestLog& log);

// The SMB server, on the files of the File service, which is among the hosted.
struct HostedDrive {
  HostedDrive(const Settings& settings, service::Context& context, const AllHosted& hosted);

  DriveShares shares;
  drive::Drive drive;
  drive::Remover remover;
  drive::SmbProtocol protocol;
  const tree::DraftKeeper keeper;

 private:
  HostedDrive(const Settings& settings, service::Context& context, const file::FileService& files);
};

// What the services do that no request waits for.
std::unique_ptr<jobs::Schedule> make_schedule(service::Context& context, const AllHosted& hosted);

}  // namespace kyanite::server
