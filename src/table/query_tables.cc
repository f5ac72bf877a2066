// Query Tables: GET /Tables, GET /Tables('name')
//
// Names are compared without regard to case, as they are when tables are created. A full page
// always carries a token: that of its last table, after which the next page begins.
#include "base/bytes.h"
#include "lifetime/directory.h"
#include "table/filter.h"
#include "table/handlers.h"
#include "table/payload.h"
#include "table/table.h"
#include "table/write_table.h"

namespace kyanite::table {

namespace {
using service::Call;

constexpr size_t kMaxTablesPerPage = 1000;
constexpr std::string_view kTableName = "TableName";

bool matches(const Filter& filter, std::string_view lower_name) {
  Row row(filter.columns().names().size());
  for (size_t column = 0; column < row.size(); ++column) {
    if (filter.columns().names()[column] == kTableName) row[column] = Value::of_string(lower_name);
  }
  return filter.matches(row);
}

wire::Result<std::optional<Filter>> decode_filter(const Call& call) {
  const auto text = call.query.find("$filter");
  if (!text || trim(*text).empty()) return std::optional<Filter>();
  auto filter = Filter::parse(*text);
  if (!filter) return filter.error();
  for (auto& node : filter->nodes()) {
    if (node.property == kTableName && node.literal.type == Edm::kString)
      node.literal.bytes = ascii_lower(node.literal.bytes);
  }
  return std::optional(std::move(*filter));
}

struct Page {
  std::string start;  // key bytes, exclusive; "" for the beginning
  size_t most = 0;
  std::optional<Filter> filter;
  Metadata metadata = Metadata::kMinimal;
};

wire::Result<Page> decode_page(const Call& call) {
  Page page;
  if (auto offered = check_query_options(call); !offered) return offered.error();
  auto metadata = decode_metadata_level(call);
  if (!metadata) return metadata.error();
  page.metadata = *metadata;
  auto top = decode_top(call, kMaxTablesPerPage);
  if (!top) return top.error();
  page.most = *top;
  auto filter = decode_filter(call);
  if (!filter) return filter.error();
  page.filter = std::move(*filter);
  if (const auto token = call.query.find("NextTableName"); token && !token->empty()) {
    const auto name = decode_token(*token);
    if (!name) return wire::Error(wire::Code::kInvalidInput);
    page.start = table_key(call, *name).bytes() + '\0';
  }
  return page;
}

struct TablesPage {
  std::vector<std::string> names;
  bool full = false;
};

Task<store::Result<TablesPage>> list(const Call& call, const Page& page) {
  auto range =
      store::Range::family(lifetime::directory_space(call.target.account), lifetime::kTablesFamily);
  range.start_at(page.start);
  TablesPage found;
  if (page.most == 0) co_return found;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const std::string lower = store::Key::from_bytes(std::string(cursor.key())).partition();
    if (page.filter && !matches(*page.filter, lower)) return true;
    auto record = cursor.record();
    if (!record) return record.error();
    auto table = store::decode<Table>((*record)->value);
    if (!table) return store::Error::kCorrupt;
    found.names.push_back(std::move(table->name));
    found.full = found.names.size() == page.most;
    return !found.full;
  };
  auto listed = co_await store::scan(call.store(), std::move(range), see, call.deadline);
  if (!listed) co_return listed.error();
  co_return std::move(found);
}

Outcome query_one(Call& call) {
  auto metadata = decode_metadata_level(call);
  if (!metadata) co_return metadata.error();
  auto loaded = co_await service::load<Table>(call, table_key(call, call.target.container));
  if (!loaded) co_return loaded.error();
  if (!loaded->value) co_return wire::Error(wire::Code::kResourceNotFound);
  std::string body;
  write_table_element(body, call, *metadata, loaded->value->name);
  co_return json_reply(200, *metadata, std::move(body));
}
}  // namespace

Outcome query_tables(Call& call) {
  if (!call.target.container.empty()) co_return co_await query_one(call);
  auto page = decode_page(call);
  if (!page) co_return page.error();
  auto found = co_await list(call, *page);
  if (!found) co_return service::storage_error(found.error());

  std::string body;
  wire::JsonWriter json(body);
  json.begin_object();
  if (page->metadata != Metadata::kNone)
    json.member("odata.metadata", call.endpoint + "$metadata#Tables");
  json.key("value").begin_array();
  for (const auto& name : found->names) {
    json.begin_object();
    write_table(json, call, page->metadata, name);
    json.end_object();
  }
  json.end_array().end_object();
  http::Reply reply = json_reply(200, page->metadata, std::move(body));
  if (found->full)
    reply.header("x-ms-continuation-NextTableName", encode_token(ascii_lower(found->names.back())));
  co_return reply;
}

}  // namespace kyanite::table
