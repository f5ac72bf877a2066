// The parameters of a query for entities.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/target.h"
#include "service/call.h"
#include "table/filter.h"
#include "table/json_entity.h"
#include "wire/error.h"

namespace kyanite::table {

inline constexpr size_t kMaxEntitiesPerPage = 1000;
inline constexpr int64_t kMaxSecondsPerPage = 5;
// Of those, as many may be spent looking at entities rather than waiting for a turn.
inline constexpr int64_t kMaxSecondsOfLooking = 1;
// Pages of large entities end earlier, so that a reply stays small.
inline constexpr size_t kMaxBytesPerPage = 4 * 1024 * 1024;

struct EntityQuery {
  Metadata metadata = Metadata::kMinimal;
  std::optional<Columns> select;
  std::optional<Filter> filter;
  size_t most = kMaxEntitiesPerPage;
  std::optional<auth::EntityKeys> start;  // the first entity that may be returned
};

wire::Result<EntityQuery> decode_query(const service::Call& call);

// "http://host/account/$metadata#People" with `element` and the selected properties behind.
std::string metadata_url(const service::Call& call, const EntityQuery& query,
                         std::string_view element);

}  // namespace kyanite::table
