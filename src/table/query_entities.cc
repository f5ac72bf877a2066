// Query Entities: GET /{table}() with $filter, $select, $top and continuation
//
// One page is one snapshot. The token is the key of the first entity not looked at, so the next
// page goes on exactly there, whatever is written meanwhile.
#include "table/handlers.h"
#include "table/payload.h"
#include "table/plan.h"
#include "table/query.h"
#include "table/table.h"

namespace kyanite::table {

namespace {
using service::Call;

// The clock is asked once in so many rows.
constexpr size_t kRowsBetweenClockReads = 64;

class PageWriter {
 public:
  PageWriter(const Call& call, const EntityQuery& query)
      : call_(call),
        query_(query),
        shape_{query.metadata, call.endpoint, call.target.account, call.target.container,
               query.select},
        deadline_(after_seconds(call.now, kMaxSecondsPerPage)),
        json_(body_) {
    json_.begin_object();
    if (query.metadata != Metadata::kNone)
      json_.member("odata.metadata", metadata_url(call, query, ""));
    json_.key("value").begin_array();
  }

  // Writes the matches of a range; false when the page is full before its end.
  store::Result<bool> add(const store::View& view, const store::Range& range) {
    if (query_.most == 0) return false;  // Without a token, which would lead to no end.
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      if (full()) {
        next_ = auth::EntityKeys{key.partition(), std::string(key.row())};
        return false;
      }
      auto record = cursor->record();
      if (!record) return record.error();
      const std::string partition = key.partition();
      const auto entity = decode_entity(partition, key.row(), (*record)->value);
      if (!entity) return store::Error::kCorrupt;
      ++looked_at_;
      if (query_.filter && !query_.filter->matches(*entity)) continue;
      json_.begin_object();
      write_entity(json_, shape_, *entity);
      json_.end_object();
      ++written_;
    }
    if (auto status = cursor->status(); !status) return status.error();
    return true;
  }

  http::Reply finish() {
    json_.end_array().end_object();
    http::Reply reply = json_reply(200, query_.metadata, std::move(body_));
    if (next_) {
      reply.header("x-ms-continuation-NextPartitionKey", encode_token(next_->partition));
      reply.header("x-ms-continuation-NextRowKey", encode_token(next_->row));
    }
    return reply;
  }

 private:
  // A page looks at one row at least, so that following tokens always comes to an end.
  bool full() const {
    if (written_ == query_.most || body_.size() > kMaxBytesPerPage) return true;
    return looked_at_ > 0 && looked_at_ % kRowsBetweenClockReads == 0 &&
           call_.context.clock.now() >= deadline_;
  }

  const Call& call_;
  const EntityQuery& query_;
  const EntityShape shape_;
  const Time deadline_;
  std::string body_;
  wire::JsonWriter json_;
  size_t looked_at_ = 0;
  size_t written_ = 0;
  std::optional<auth::EntityKeys> next_;
};

std::vector<store::Range> ranges_of(const Call& call, store::SpaceId space,
                                    const EntityQuery& query) {
  auto ranges = plan(space, query.filter ? &*query.filter : nullptr);
  if (call.caller.is_sas()) ranges = confine(std::move(ranges), space, call.caller.key_range);
  if (query.start)
    ranges = start_at(std::move(ranges), space, query.start->partition, query.start->row);
  return ranges;
}
}  // namespace

Outcome query_entities(Call& call) {
  auto query = decode_query(call);
  if (!query) co_return query.error();
  auto space = co_await find_table(call);
  if (!space) co_return space.error();
  const auto ranges = ranges_of(call, *space, *query);
  PageWriter page(call, *query);
  auto read = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    for (const auto& range : ranges) {
      auto goes_on = page.add(view, range);
      if (!goes_on) return goes_on.error();
      if (!*goes_on) break;
    }
    return {};
  });
  if (!read) co_return service::storage_error(read.error());
  co_return page.finish();
}

}  // namespace kyanite::table
