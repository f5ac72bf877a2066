#include "table/change_reply.h"

#include "table/names.h"
#include "table/payload.h"
#include "table/table.h"
#include "transfer/body.h"

namespace kyanite::table {

using service::Call;

wire::Result<Wanted> decode_wanted(const Call& call, Verb verb) {
  auto metadata = decode_metadata_level(call);
  if (!metadata) return metadata.error();
  const bool content =
      verb == Verb::kInsert && decode_preference(call) != Preference::kReturnNoContent;
  return Wanted{*metadata, content};
}

namespace {
std::string entity_document(const Call& call, Metadata metadata, const Entity& entity) {
  const EntityShape shape{metadata, call.endpoint, call.target.account, call.target.container, {}};
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object();
  if (metadata != Metadata::kNone) {
    json.member("odata.metadata",
                call.endpoint + "$metadata#" + call.target.container + "/@Element");
  }
  write_entity(json, shape, entity);
  json.end_object();
  return body;
}
}  // namespace

http::Reply change_reply(const Call& call, const Wanted& wanted, const Change& change,
                         const Changed& changed) {
  http::Reply reply = empty_reply();
  if (wanted.content) {
    const auto entity = decode_entity(change.partition, change.row, changed.record->value);
    reply = json_reply(201, wanted.metadata, entity_document(call, wanted.metadata, *entity));
  }
  if (change.verb == Verb::kInsert) {
    encode_preference(reply, decode_preference(call));
    const std::string location =
        call.endpoint + entity_path(call.target.container, change.partition, change.row);
    reply.header("Location", location);
    if (!wanted.content) reply.header("DataServiceId", location);
  }
  if (change.verb != Verb::kDelete) reply.header("ETag", entity_tag(changed.timestamp));
  return reply;
}

Task<wire::Result<http::Reply>> change_entity(Call& call, Verb verb) {
  // Below a table there is nothing to change; which error that is, the table says.
  if (!call.target.object.empty()) co_return (co_await find_table(call)).error();
  auto wanted = decode_wanted(call, verb);
  if (!wanted) co_return wanted.error();
  auto body = co_await transfer::read_body(call, kMaxEntityBody);
  if (!body) co_return body.error();
  std::vector<Change> changes;
  auto change = decode_change(call, verb, *body);
  if (!change) co_return change.error();
  changes.push_back(std::move(*change));
  auto space = co_await find_table(call);
  if (!space) co_return space.error();
  auto changed = co_await apply_changes(call, *space, changes);
  if (!changed) co_return changed.error().error;
  co_return change_reply(call, *wanted, changes.front(), changed->front());
}

}  // namespace kyanite::table
