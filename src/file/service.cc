#include "file/service.h"

#include "file/operations.h"
#include "file/share.h"
#include "file/source.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "lifetime/spaces.h"
#include "service/names.h"
#include "tree/drafts.h"
#include "tree/former.h"
#include "wire/date.h"

namespace kyanite::file {

using auth::Level;
using service::Call;

const FileService& file_service(const Call& call) {
  return static_cast<const FileService&>(*call.service);
}

OpenFiles& open_files(const Call& call) { return file_service(call).open_files(); }

tree::Usage& usage(const Call& call) { return file_service(call).usage(); }

std::span<const service::Operation> FileService::operations() const { return file::operations(); }

wire::Result<void> FileService::address(Call& call, std::string_view path) const {
  auto& target = call.target;
  if (const auto text = call.query.find("sharesnapshot")) {
    if (!wire::parse_iso_date(*text)) return wire::invalid_query("sharesnapshot", *text);
    target.snapshot = *text;
  }
  if (path.empty()) {
    target.level = Level::kService;
    return {};
  }
  const size_t slash = path.find('/');
  target.container = path.substr(0, slash);
  if (slash != std::string_view::npos) target.object = path.substr(slash + 1);
  while (!target.object.empty() && target.object.back() == '/') target.object.pop_back();
  target.level = target.object.empty() ? Level::kContainer : Level::kObject;
  return service::check_resource_name(target.container);
}

Task<wire::Result<auth::Acl>> FileService::acl(Call& call) const {
  auth::Acl acl;
  if (call.target.level == Level::kService) co_return acl;
  auto loaded = co_await service::load<Share>(call, share_key(call));
  if (!loaded) co_return loaded.error();
  if (loaded->value)
    acl.policies.assign(loaded->value->policies.begin(), loaded->value->policies.end());
  co_return acl;
}

Task<wire::Result<transfer::SourceObject>> FileService::source(
    Call& call, const std::optional<headers::ByteRange>& range) const {
  auto file = co_await find_source_file(call, range);
  if (!file) co_return file.error();
  co_return source_object(*file);
}

void FileService::end_share(store::SpaceId space) const {
  open_files_.force_close_share(space);
  open_files_.drafts().discard_share(space);
  usage_.forget(space);
}

std::vector<jobs::Job> FileService::make_jobs(service::Context& context) const {
  constexpr int64_t kFormerRestSeconds = 10;
  constexpr int64_t kUsageRestSeconds = 10;
  std::vector<jobs::Job> jobs;
  jobs.push_back(copy_runner_.resume_job("file-copies", context));
  jobs.push_back(lifetime::end_deletions_job<Share>("deleted-shares", lifetime::kShareGraves));
  jobs.push_back(lifetime::clean_spaces_job("dead-shares", lifetime::kDeadSharesFamily, nullptr,
                                            [this](store::SpaceId space) {
                                              if (doubtful_.take(space)) end_share(space);
                                            }));
  jobs.push_back({"former-states", kFormerRestSeconds, {}, [](jobs::Step& step) {
                    return lifetime::walk_spaces<Share>(step, lifetime::kSharesFamily,
                                                        tree::remove_unseen_states);
                  }});
  jobs.push_back({"share-usage", kUsageRestSeconds, {}, [this](jobs::Step& step) {
                    const lifetime::VisitSpace count = [this](jobs::Step& at, std::string name,
                                                              store::SpaceId space,
                                                              std::string& key) {
                      return usage_.count(at, std::move(name), space, key);
                    };
                    return lifetime::walk_spaces<Share>(step, lifetime::kSharesFamily, count);
                  }});
  jobs.push_back(lifetime::clear_graves_job<Share>("dead-file-contents", lifetime::kSharesFamily));
  return jobs;
}

}  // namespace kyanite::file
