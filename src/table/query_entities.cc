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
// A turn ends after so many bytes of JSON even where it has not had enough.
constexpr size_t kBytesPerTurn = 128 * 1024;
// Rows that take longer than others are not looked at on an event loop.
constexpr size_t kMostCheapColumns = 16;

bool is_cheap(const EntityQuery& query) {
  return (!query.filter || query.filter->size() <= kMostCheapColumns) &&
         (!query.select || query.select->names().size() <= kMostCheapColumns);
}

// Writes a page in turns. What a turn wrote is kept once it is through: it may have to be had
// again.
class PageWriter {
 public:
  PageWriter(const Call& call, const EntityQuery& query, std::vector<store::Range> ranges)
      : call_(call),
        query_(query),
        ranges_(std::move(ranges)),
        shape_{query.metadata, call.endpoint, call.target.account, call.target.container,
               query.select},
        deadline_(call.context.clock, kMaxSecondsPerPage) {
    wire::JsonWriter json(body_);
    json.begin_object();
    if (query.metadata != Metadata::kNone)
      json.member("odata.metadata", metadata_url(call, query, ""));
    json.key("value").begin_array();
    // Nothing is asked for, or without a token, which would lead to no end.
    kept_.ended = ranges_.empty() || query.most == 0;
  }

  bool ended() const { return kept_.ended; }
  bool has_looked() const { return kept_.looked_at > 0; }

  store::Result<void> turn(const store::View& view) {
    now_ = kept_;
    rows_.clear();
    began_ = call_.context.clock.moment();
    for (size_t looked = now_.looked_at; now_.range < ranges_.size(); ++now_.range) {
      store::Range range = ranges_[now_.range];
      if (!now_.from.empty()) range.start_at(std::exchange(now_.from, {}));
      auto cursor = view.scan(range);
      for (; cursor->valid(); cursor->next()) {
        if (is_full()) return end(*cursor);
        if (now_.looked_at > looked && (view.enough() || rows_.size() > kBytesPerTurn)) {
          now_.from = cursor->key();
          return {};
        }
        if (auto added = add(*cursor); !added) return added.error();
      }
      if (auto status = cursor->status(); !status) return status.error();
    }
    now_.ended = true;
    return {};
  }
  void keep() {
    now_.looked += call_.context.clock.moment().ticks - began_.ticks;
    kept_ = std::move(now_);
    body_ += rows_;
  }
  // The page ends with what it has, which is something.
  void end_early() {
    kept_.ended = true;
    kept_.next = keys_of(store::Key::from_bytes(kept_.from));
  }

  http::Reply finish() {
    body_ += "]}";
    http::Reply reply = json_reply(200, query_.metadata, std::move(body_));
    if (kept_.next) {
      reply.header("x-ms-continuation-NextPartitionKey", encode_token(kept_.next->partition));
      reply.header("x-ms-continuation-NextRowKey", encode_token(kept_.next->row));
    }
    return reply;
  }

 private:
  // How far the page has come.
  struct Progress {
    size_t range = 0;  // among the ranges
    std::string from;  // in it; empty: its beginning
    size_t looked_at = 0;
    size_t written = 0;
    int64_t looked = 0;  // Ticks spent looking, without the waiting in between.
    bool ended = false;
    std::optional<auth::EntityKeys> next;
  };

  static auth::EntityKeys keys_of(const store::Key& key) {
    return {key.partition(), std::string(key.row())};
  }
  store::Result<void> end(const store::View::Cursor& cursor) {
    now_.ended = true;
    now_.next = keys_of(store::Key::from_bytes(std::string(cursor.key())));
    return {};
  }

  store::Result<void> add(const store::View::Cursor& cursor) {
    auto value = cursor.value();
    if (!value) return value.error();
    const auto key = store::Key::from_bytes(std::string(cursor.key()));
    const std::string partition = key.partition();
    const auto entity = decode_entity(partition, key.row(), *value);
    if (!entity) return store::Error::kCorrupt;
    ++now_.looked_at;
    if (query_.filter) {
      query_.filter->columns().load(*entity, row_);
      if (!query_.filter->matches(row_)) return {};
    }
    if (now_.written++ > 0) rows_ += ',';
    wire::JsonWriter json(rows_);
    json.begin_object();
    write_entity(json, shape_, *entity);
    json.end_object();
    return {};
  }

  // A page looks at one row at least, so that following tokens always comes to an end.
  bool is_full() const {
    if (now_.written == query_.most || body_.size() + rows_.size() > kMaxBytesPerPage) return true;
    if (now_.looked_at == 0 || now_.looked_at % kRowsBetweenClockReads != 0) return false;
    const int64_t took = call_.context.clock.moment().ticks - began_.ticks;
    return deadline_.over() || call_.deadline.over() ||
           now_.looked + took >= kMaxSecondsOfLooking * kTicksPerSecond;
  }

  const Call& call_;
  const EntityQuery& query_;
  const std::vector<store::Range> ranges_;
  const EntityShape shape_;
  const Deadline deadline_;  // of the page; the request has its own
  std::string body_;
  Progress kept_;

  // Of the turn under way.
  Progress now_;
  Moment began_;
  std::string rows_;
  Row row_;
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
  PageWriter page(call, *query, ranges_of(call, *space, *query));
  const auto snapshot = call.store().snapshot();
  const store::Look turn = [&](const store::View& view) { return page.turn(view); };
  while (!page.ended()) {
    auto look = is_cheap(*query) ? snapshot->look(turn) : snapshot->scan(turn);
    auto looked = co_await std::move(look);
    if (looked) {
      page.keep();
    } else if (looked.error() == store::Error::kBusy && page.has_looked()) {
      page.end_early();
    } else {
      co_return service::storage_error(looked.error());
    }
  }
  co_return page.finish();
}

}  // namespace kyanite::table
