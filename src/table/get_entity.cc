// Query Entities, one of them: GET /{table}(PartitionKey='..',RowKey='..')
#include "table/handlers.h"
#include "table/payload.h"
#include "table/query.h"
#include "table/table.h"

namespace kyanite::table {

namespace {
constexpr size_t kEnvelopeBytes = 512;  // Names and annotations around the values, roughly.
}

Outcome get_entity(service::Call& call) {
  auto query = decode_query(call);
  if (!query) co_return query.error();
  auto space = co_await find_table(call);
  if (!space) co_return space.error();
  const auto& keys = *call.target.entity;
  auto record = co_await call.store().get(store::Key(*space, kEntities, keys.partition, keys.row));
  if (!record) co_return service::storage_error(record.error());
  if (*record == nullptr) co_return wire::Error(wire::Code::kResourceNotFound);
  const auto entity = decode_entity(keys.partition, keys.row, (*record)->value);
  if (!entity) co_return service::storage_error(store::Error::kCorrupt);

  const EntityShape shape{query->metadata, call.endpoint, call.target.account,
                          call.target.container, query->select};
  std::string body;
  body.reserve((*record)->value.size() + kEnvelopeBytes);
  wire::JsonWriter json(body);
  json.begin_object();
  if (query->metadata != Metadata::kNone)
    json.member("odata.metadata", metadata_url(call, *query, "/@Element"));
  write_entity(json, shape, *entity);
  json.end_object();
  http::Reply reply = json_reply(200, query->metadata, std::move(body));
  reply.header("ETag", entity_tag(entity->timestamp));
  co_return reply;
}

}  // namespace kyanite::table
