// What a request addresses, as far as authorization must know. Filled by the front's resolver from
// host and path.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/service.h"

namespace kyanite::auth {

enum class Level {
  kService,    // the account's service itself: /?comp=list, /?restype=service
  kContainer,  // a container, queue, table or share
  kMessages,   // the messages of a queue as a whole
  kObject,     // a blob, message, entity, file or directory
  kTables,     // the list of tables: /Tables and /Tables('name')
  kBatch,      // a batch of table operations: /$batch
};

struct EntityKeys {
  std::string partition;
  std::string row;
};

struct Target {
  wire::Service service = wire::Service::kBlob;
  Level level = Level::kService;
  std::string account;  // without "-secondary"
  std::string_view
      raw_path;  // as sent, still percent-encoded; with the account in front when path_style
  bool path_style = false;  // the account came from the first path segment
  bool secondary = false;   // addressed as account-secondary
  std::string container;    // container, queue, table or share
  std::string object;       // decoded blob name or file path; "" above object level
  std::string prefix;       // what the names begin with that a request at container level is about
  std::string snapshot;     // value of the snapshot query parameter
  std::string version_id;   // value of the versionid query parameter
  std::optional<EntityKeys> entity;  // the single table entity addressed by its keys
};

}  // namespace kyanite::auth
