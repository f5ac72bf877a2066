// Entity Group Transaction: POST /$batch
//
// multipart/mixed around either one change set of at most 100 changes to entities of one partition,
// made in one step or not at all, or a single query. The reply is 202 whenever the batch could be
// read; what became of it is in the parts: one for each change, or the single one that failed, with
// its index before the message.
#include <algorithm>
#include <memory>
#include <set>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "base/random.h"
#include "http/serialize.h"
#include "table/address.h"
#include "table/change_reply.h"
#include "table/handlers.h"
#include "table/operations.h"
#include "table/payload.h"
#include "table/table.h"
#include "transfer/body.h"
#include "wire/multipart.h"

namespace kyanite::table {

namespace {
using service::Call;
using wire::Code;

constexpr size_t kMaxBatchBody = 4 * 1024 * 1024;
constexpr size_t kMaxChanges = 100;
// More parts than that are not counted any more.
constexpr size_t kMaxParts = 10'000;

// One request of the batch, in the place of a request of its own.
struct Item {
  explicit Item(Call& outer) : call(Call::derived(request, outer)) {}

  http::Request request;
  Call call;
  std::string_view content;
  Wanted wanted;
};
using ItemPtr = std::unique_ptr<Item>;

wire::Error malformed() {
  return wire::Error(Code::kInvalidInput)
      .saying("An error occurred while processing this request.");
}

// The path below the account, still percent-encoded. Some clients leave the account out even where
// the batch itself was sent to a path with it.
std::string_view below_account(const Call& outer, std::string_view path) {
  if (!path.starts_with('/')) return path;
  path.remove_prefix(1);
  if (!outer.target.path_style) return path;
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || path.substr(0, slash) != outer.target.account) return path;
  return path.substr(slash + 1);
}

// A token for one table reaches no other, and its permissions count for each part.
wire::Result<void> authorize(const Call& call) {
  const bool bound = call.caller.kind == auth::Caller::Kind::kServiceSas;
  if (bound && !equals_ignoring_case(call.caller.container, call.target.container))
    return wire::Error(Code::kAuthorizationFailure);
  return auth::authorize(call.caller, call.operation->need, call.target, {});
}

wire::Result<ItemPtr> make_item(Call& outer, std::string_view text) {
  auto embedded = wire::parse_embedded_request(text);
  if (!embedded) return malformed();
  auto item = std::make_unique<Item>(outer);
  http::Request& request = item->request;
  request.method = embedded->method;
  request.target = wire::strip_origin(embedded->url);
  const size_t question = request.target.find('?');
  request.path = request.target.substr(0, question);
  if (question != std::string_view::npos) request.query = request.target.substr(question + 1);
  request.headers = std::move(embedded->headers);
  request.secure = outer.request.secure;
  item->content = embedded->content;

  Call& call = item->call;
  call.endpoint = outer.endpoint;
  call.caller = outer.caller;
  call.target.account = outer.target.account;
  call.target.path_style = outer.target.path_style;
  const auto decoded = wire::percent_decode(below_account(outer, request.path));
  auto query = wire::Query::parse(request.query);
  if (!decoded || !query) return malformed();
  call.query = std::move(*query);
  if (auto addressed = address(call, *decoded); !addressed) return addressed.error();
  if (!call.target.object.empty()) return malformed();
  auto operation = service::route(operations(), request, call.query, call.target.level);
  if (!operation) return operation.error();
  call.operation = *operation;
  if (auto allowed = authorize(call); !allowed) return allowed.error();
  return item;
}

Refusal refusal(size_t index, wire::Error error) { return {index, std::move(error)}; }

struct ChangeSet {
  std::vector<ItemPtr> items;  // One more than changes where the last one was refused.
  std::vector<Change> changes;
};

// Whether the change fits those before it: one table, one partition, every entity once.
wire::Result<void> check_fits(const ChangeSet& set, const Item& item, const Change& change) {
  if (set.changes.empty()) return {};
  const bool same =
      change.partition == set.changes.front().partition &&
      equals_ignoring_case(item.call.target.container, set.items.front()->call.target.container);
  if (!same) return wire::Error(Code::kCommandsInBatchActOnDifferentPartitions);
  for (const Change& other : set.changes) {
    if (other.row == change.row) return wire::Error(Code::kInvalidDuplicateRow);
  }
  return {};
}

wire::Result<void> add_change(Call& outer, std::string_view text, ChangeSet& set) {
  auto made = make_item(outer, text);
  if (!made) return made.error();
  set.items.push_back(std::move(*made));
  Item& item = *set.items.back();
  const auto verb = verb_of(*item.call.operation);
  if (!verb) return malformed();
  auto wanted = decode_wanted(item.call, *verb);
  if (!wanted) return wanted.error();
  item.wanted = *wanted;
  auto change = decode_change(item.call, *verb, item.content);
  if (!change) return change.error();
  if (auto fits = check_fits(set, item, *change); !fits) return fits;
  set.changes.push_back(std::move(*change));
  return {};
}

Result<void, Refusal> decode_changes(Call& outer, const std::vector<wire::Part>& parts,
                                     ChangeSet& set) {
  if (parts.size() > kMaxChanges) {
    return refusal(kMaxChanges - 1,
                   wire::Error(Code::kInvalidInput)
                       .saying("The batch request operation exceeds the maximum 100 changes per "
                               "change set."));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (auto added = add_change(outer, parts[i].content, set); !added)
      return refusal(i, added.error());
  }
  return {};
}

std::string_view text_of(const http::Reply& reply) {
  const auto* text = std::get_if<std::string>(&reply.body);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

http::Reply batch_reply(const wire::MultipartWriter& outer, std::string body) {
  http::Reply reply(202);
  reply.header("X-Content-Type-Options", "nosniff").header("Cache-Control", "no-cache");
  reply.header("Content-Type", "multipart/mixed; boundary=" + outer.boundary());
  reply.body = std::move(body);
  return reply;
}

// A reply whose one change set is written by `write(MultipartWriter&)`.
template <class Write>
http::Reply change_set_reply(Write write) {
  std::string body;
  wire::MultipartWriter outer(body, "batchresponse_" + random_uuid());
  wire::MultipartWriter inner(body, "changesetresponse_" + random_uuid());
  outer.part("multipart/mixed; boundary=" + inner.boundary());
  write(inner);
  inner.close();
  outer.close();
  return batch_reply(outer, std::move(body));
}

// A lone change that was sound, and refused by what is stored, needs no index.
http::Reply refused_reply(const Call& outer, const ChangeSet& set, Refusal why, bool with_index) {
  if (with_index) why.error.message = std::to_string(why.index) + ":" + why.error.message;
  http::Reply reply(why.error.status);
  const Call& call = why.index < set.items.size() ? set.items[why.index]->call : outer;
  render_json_error(call, why.error, reply);
  reply.header("DataServiceVersion", "3.0;");
  return change_set_reply([&](wire::MultipartWriter& writer) {
    writer.reply(reply.status, http::reason_of(reply), reply.head, text_of(reply));
  });
}

http::Reply applied_reply(const ChangeSet& set, const std::vector<Changed>& changed) {
  return change_set_reply([&](wire::MultipartWriter& writer) {
    for (size_t i = 0; i < set.changes.size(); ++i) {
      const Item& item = *set.items[i];
      http::Reply reply = change_reply(item.call, item.wanted, set.changes[i], changed[i]);
      const bool insert = set.changes[i].verb == Verb::kInsert;
      reply.header("DataServiceVersion", insert ? "3.0;" : "1.0;");
      writer.reply(reply.status, http::reason_of(reply), reply.head, text_of(reply));
    }
  });
}

Outcome run_changes(Call& call, std::string_view content, std::string_view boundary) {
  const auto parts = wire::parse_multipart(content, boundary, kMaxParts);
  if (!parts || parts->empty()) co_return malformed();
  ChangeSet set;
  if (auto decoded = decode_changes(call, *parts, set); !decoded)
    co_return refused_reply(call, set, decoded.error(), true);
  auto space = co_await find_table(set.items.front()->call);
  if (!space) co_return refused_reply(call, set, refusal(0, space.error()), true);
  auto changed = co_await apply_changes(call, *space, set.changes);
  if (!changed) co_return refused_reply(call, set, changed.error(), set.changes.size() > 1);
  co_return applied_reply(set, *changed);
}

// A query is alone in its batch.
Outcome run_query(Call& call, std::string_view content) {
  auto item = make_item(call, content);
  if (!item) co_return item.error();
  const service::Operation& operation = *(*item)->call.operation;
  if (operation.run != query_entities && operation.run != get_entity) co_return malformed();
  auto answered = co_await operation.run((*item)->call);
  http::Reply reply;
  if (answered) {
    reply = std::move(*answered);
  } else {
    reply.status = answered.error().status;
    render_json_error(call, answered.error(), reply);
  }
  reply.header("DataServiceVersion", "3.0;");
  std::string body;
  wire::MultipartWriter writer(body, "batchresponse_" + random_uuid());
  writer.reply(reply.status, http::reason_of(reply), reply.head, text_of(reply));
  writer.close();
  co_return batch_reply(writer, std::move(body));
}
}  // namespace

Outcome entity_group_transaction(Call& call) {
  const auto boundary = wire::multipart_boundary(call.headers().get("Content-Type"));
  if (!boundary) co_return malformed();
  auto body = co_await transfer::read_body(call, kMaxBatchBody);
  if (!body) co_return body.error();
  const auto parts = wire::parse_multipart(*body, *boundary, kMaxParts);
  if (!parts || parts->size() != 1) co_return malformed();
  const wire::Part& part = parts->front();
  const std::string_view type = part.headers.get("Content-Type");
  if (const auto inner = wire::multipart_boundary(type))
    co_return co_await run_changes(call, part.content, *inner);
  if (!equals_ignoring_case(trim(type.substr(0, type.find(';'))), "application/http"))
    co_return malformed();
  co_return co_await run_query(call, part.content);
}

}  // namespace kyanite::table
