#include "file/service.h"

#include "base/log.h"
#include "file/former.h"
#include "file/operations.h"
#include "file/share.h"
#include "file/source.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "service/names.h"
#include "wire/date.h"

namespace kyanite::file {

using auth::Level;
using service::Call;

namespace {
// What one call of tend() removes at most of the dead shares of an account, and of the former
// states of its live ones.
constexpr uint64_t kRecordsPerCleaning = 10'000;
}  // namespace

OpenFiles& open_files(const Call& call) {
  return static_cast<const FileService&>(*call.service).open_files();
}

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

Task<wire::Result<transfer::SourceObject>> FileService::source(Call& call) const {
  auto file = co_await find_source_file(call);
  if (!file) co_return file.error();
  co_return source_object(*file);
}

Task<void> FileService::tend(service::Context& context) const {
  const Time now = context.clock.now();
  for (const auto& [name, account] : context.accounts.all()) {
    auto buried =
        co_await lifetime::bury_overdue<Share>(context.store, name, lifetime::kShareGraves, now);
    if (!buried) log_warning(std::string("file: deleted shares: ") + describe(buried.error()));
    auto cleaned = co_await lifetime::clean_dead_spaces(
        context.store, name, lifetime::kDeadSharesFamily, kRecordsPerCleaning, now);
    if (!cleaned) log_warning(std::string("file: cleaning: ") + describe(cleaned.error()));
    auto purged = co_await purge_former(context.store, name, kRecordsPerCleaning, now);
    if (!purged) log_warning(std::string("file: former states: ") + describe(purged.error()));
  }
  co_await copy_runner_.resume(context);
}

}  // namespace kyanite::file
