#include "table/query.h"

#include "base/bytes.h"
#include "table/payload.h"

namespace kyanite::table {

namespace {
using service::Call;

std::optional<Columns> decode_select(const Call& call) {
  const auto names = split_list(call.query.get("$select"));
  if (names.empty()) return {};
  for (const std::string_view name : names) {
    if (name == "*") return {};
  }
  return Columns(names);
}

wire::Result<std::optional<auth::EntityKeys>> decode_start(const Call& call) {
  const auto partition = call.query.find("NextPartitionKey");
  const auto row = call.query.find("NextRowKey");
  if (!partition || partition->empty()) return std::optional<auth::EntityKeys>();
  auto start_partition = decode_token(*partition);
  auto start_row = row && !row->empty() ? decode_token(*row) : std::string();
  if (!start_partition || !start_row) return wire::Error(wire::Code::kInvalidInput);
  return std::optional(auth::EntityKeys{std::move(*start_partition), std::move(*start_row)});
}
}  // namespace

wire::Result<EntityQuery> decode_query(const Call& call) {
  EntityQuery query;
  if (auto offered = check_query_options(call); !offered) return offered.error();
  auto metadata = decode_metadata_level(call);
  if (!metadata) return metadata.error();
  query.metadata = *metadata;
  query.select = decode_select(call);
  if (const auto text = call.query.find("$filter"); text && !trim(*text).empty()) {
    auto filter = Filter::parse(*text);
    if (!filter) return filter.error();
    query.filter = std::move(*filter);
  }
  auto top = decode_top(call, kMaxEntitiesPerPage);
  if (!top) return top.error();
  query.most = *top;
  auto start = decode_start(call);
  if (!start) return start.error();
  query.start = std::move(*start);
  return query;
}

std::string metadata_url(const Call& call, const EntityQuery& query, std::string_view element) {
  std::string url = call.endpoint + "$metadata#" + call.target.container;
  url.append(element);
  if (query.select) {
    url.append("&$select");
    char separator = '=';
    for (const std::string& name : query.select->names()) {
      url.push_back(separator);
      url.append(name);
      separator = ',';
    }
  }
  return url;
}

}  // namespace kyanite::table
