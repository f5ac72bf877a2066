// Create Table: POST /Tables
#include "lifetime/directory.h"
#include "table/handlers.h"
#include "table/names.h"
#include "table/payload.h"
#include "table/table.h"
#include "table/write_table.h"
#include "transfer/body.h"

namespace kyanite::table {

namespace {
constexpr size_t kMaxBody = 64 * 1024;
}

Outcome create_table(service::Call& call) {
  auto metadata = decode_metadata_level(call);
  if (!metadata) co_return metadata.error();
  if (auto typed = check_content_type(call); !typed) co_return typed.error();
  auto body = co_await transfer::read_body(call, kMaxBody);
  if (!body) co_return body.error();
  auto name = parse_table_name(*body);
  if (!name) co_return name.error();
  if (auto valid = check_table_name(*name); !valid) co_return valid.error();

  auto decide = [&](std::optional<Table>& table) -> wire::Result<void> {
    if (table) return wire::Error(wire::Code::kTableAlreadyExists);
    table.emplace();
    table->space = lifetime::new_space();
    table->created = call.now;
    table->name = *name;
    return {};
  };
  auto created = co_await service::update<Table>(call, table_key(call, *name), decide);
  if (!created) co_return created.error();
  const Preference preference = decode_preference(call);
  const std::string location = call.endpoint + table_path(*name);
  http::Reply reply = empty_reply();
  if (preference != Preference::kReturnNoContent) {
    std::string json;
    write_table_element(json, call, *metadata, *name);
    reply = json_reply(201, *metadata, std::move(json));
  }
  encode_preference(reply, preference);
  reply.header("Location", location);
  if (preference == Preference::kReturnNoContent) reply.header("DataServiceId", location);
  co_return reply;
}

}  // namespace kyanite::table
