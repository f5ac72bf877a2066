#include "blob/service.h"

#include <algorithm>

#include "blob/admission.h"
#include "blob/container.h"
#include "blob/copy_source.h"
#include "blob/dead_trees.h"
#include "blob/lost_tags.h"
#include "blob/names.h"
#include "blob/operations.h"
#include "blob/overdue_blobs.h"
#include "blob/untrue_tags.h"
#include "lifetime/dead_spaces.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "lifetime/spaces.h"
#include "wire/date.h"

namespace kyanite::blob {

using auth::Level;
using service::Call;

std::span<const service::Operation> BlobService::operations() const { return blob::operations(); }

namespace {
std::string_view without_slashes(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}
}  // namespace

wire::Result<void> BlobService::address(Call& call, std::string_view path) const {
  auto& target = call.target;
  for (const std::string_view instant : {"snapshot", "versionid"}) {
    const auto text = call.query.find(instant);
    if (text && !wire::parse_iso_date(*text))
      return wire::invalid_query(instant, *text).naming(wire::Error::Names::kNeither);
  }
  // Which of the two is meant must not be a matter of who looks.
  if (call.query.has("snapshot") && call.query.has("versionid"))
    return wire::Error(wire::Code::kMutuallyExclusiveQueryParameters);
  target.snapshot = call.query.get("snapshot");
  target.version_id = call.query.get("versionid");
  if (path.empty()) {
    target.level = Level::kService;
    return {};
  }
  const size_t slash = path.find('/');
  target.container = path.substr(0, slash);
  if (slash != std::string_view::npos && slash + 1 < path.size()) {
    target.level = Level::kObject;
    target.object = path.substr(slash + 1);
  } else if (slash == std::string_view::npos && !call.query.has("restype") &&
             !call.query.has("resource")) {
    // A single segment is a blob of the root container, unless it is said to be something else.
    target.level = Level::kObject;
    target.container = kRootContainer;
    target.object = path;
  } else {
    target.level = Level::kContainer;
    // A listing of Data Lake is of what lies in a directory.
    const bool by_directory = !call.query.has("restype") && !call.query.has("comp");
    const auto directory = without_slashes(call.query.get("directory"));
    if (!by_directory) {
      target.prefix = call.query.get("prefix");
    } else if (!directory.empty()) {
      target.prefix = std::string(directory) + "/";
    }
  }
  // A name never holds a backslash: everything from here on, signatures included, sees the slash.
  std::replace(target.object.begin(), target.object.end(), '\\', '/');
  if (auto valid = check_container_name(target.container); !valid) return valid.error();
  if (target.level == Level::kObject) return check_blob_name(target.object);
  return {};
}

Task<wire::Result<auth::Acl>> BlobService::acl(Call& call) const {
  auth::Acl acl;
  if (call.target.level == Level::kService) co_return acl;
  auto loaded = co_await service::load<Container>(call, container_key(call));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return acl;
  acl.public_access = loaded->value->public_access;
  acl.policies.assign(loaded->value->policies.begin(), loaded->value->policies.end());
  co_return acl;
}

Task<wire::Result<void>> BlobService::require_paths(Call& call) const {
  if (call.target.level == Level::kService) co_return not_admitted();
  auto container = co_await find_container(call);
  if (!container) co_return container.error();
  if (!(*container)->hierarchical) co_return not_admitted();
  co_return wire::Result<void>();
}

Task<wire::Result<transfer::SourceObject>> BlobService::source(
    Call& call, const std::optional<headers::ByteRange>&) const {
  auto found = co_await find_source_blob(call);
  if (!found) co_return found.error();
  const Blob& blob = *found->blob;
  if (auto open = check_key(blob.key_sha256, {}); !open) co_return open.error();
  if (blob.tier == Tier::kArchive) co_return wire::Error(wire::Code::kBlobArchived);
  transfer::SourceObject object{found->place.space(), std::string(found->place.own()),
                                blob.content,         {},
                                blob.changed,         blob.http,
                                blob.metadata};
  object.head = {head_key(found->place, found->row), found->record};
  co_return std::move(object);
}

std::vector<jobs::Job> BlobService::make_jobs(service::Context& context) const {
  std::vector<jobs::Job> jobs;
  jobs.push_back(copy_runner_.resume_job("blob-copies", context));
  jobs.push_back(
      lifetime::end_deletions_job<Container>("deleted-containers", lifetime::kContainerGraves));
  jobs.push_back(
      lifetime::clean_spaces_job("dead-containers", lifetime::kDeadContainersFamily, bury_root));
  jobs.push_back(
      lifetime::clear_graves_job<Container>("dead-blob-contents", lifetime::kContainersFamily));
  jobs.push_back(clear_dead_trees_job());
  jobs.push_back(clear_lake_graves_job());
  jobs.push_back(remove_overdue_job());
  jobs.push_back(remove_overdue_paths_job());
  jobs.push_back(remove_untrue_tags_job());
  jobs.push_back(mend_tags_job());
  return jobs;
}

}  // namespace kyanite::blob
