#include "table/change.h"

#include <algorithm>

#include "base/bytes.h"
#include "concurrency/etag.h"
#include "service/storage.h"
#include "table/json_entity.h"
#include "table/names.h"
#include "table/payload.h"
#include "wire/query.h"

namespace kyanite::table {

namespace {
using service::Call;
using wire::Code;

wire::Error invalid_tag(std::string_view tag) {
  std::string text = "The etag value '";
  text.append(tag).append(
      "' specified in one of the request headers is not valid. Please make sure only one etag "
      "value "
      "is specified and is valid.");
  return wire::Error(Code::kInvalidInput).saying(text);
}

// The instant in W/"datetime'...'"; unset when it names none.
Time timestamp_of(std::string_view quoted) {
  constexpr std::string_view kBegin = "datetime'";
  if (!quoted.starts_with(kBegin) || !quoted.ends_with('\'') || quoted.size() <= kBegin.size())
    return {};
  quoted = quoted.substr(kBegin.size(), quoted.size() - kBegin.size() - 1);
  const auto text = wire::percent_decode(quoted);
  if (!text) return {};
  return parse_date_time(*text).value_or(Time{});
}

wire::Result<void> check_size(std::string_view partition, std::string_view row,
                              std::string_view properties) {
  if (entity_size(partition, row, properties) > kMaxEntityBytes)
    return wire::Error(Code::kEntityTooLarge);
  return {};
}

wire::Result<void> check_reach(const Call& call, const Change& change) {
  if (!call.caller.is_sas() || call.caller.key_range.contains(change.partition, change.row))
    return {};
  return wire::Error(Code::kAuthorizationFailure);
}

// An upsert adds or updates, so it takes both permissions.
wire::Result<void> check_upsert_permission(const Call& call) {
  const auto& caller = call.caller;
  if (!caller.is_sas() || (caller.permissions.has('a') && caller.permissions.has('u'))) return {};
  return wire::Error(Code::kAuthorizationPermissionMismatch);
}

wire::Result<void> take_keys(const Call& call, const EntityInput& input, Change& change) {
  if (call.target.entity) {  // What the URL names counts, whatever the body says.
    change.partition = call.target.entity->partition;
    change.row = call.target.entity->row;
    return {};
  }
  if (!input.partition || !input.row) return wire::Error(Code::kPropertiesNeedValue);
  change.partition = *input.partition;
  change.row = *input.row;
  return {};
}

wire::Result<Changed> make(const Change& change, Time timestamp, std::string_view properties) {
  if (auto fits = check_size(change.partition, change.row, properties); !fits) return fits.error();
  auto record = std::make_shared<store::SharedRecord>();
  record->value = encode_entity(timestamp, properties);
  return Changed{timestamp, std::move(record)};
}

Task<store::Result<std::vector<store::RecordPtr>>> read_all(Call& call,
                                                            const std::vector<store::Key>& keys) {
  std::vector<store::RecordPtr> records(keys.size());
  if (keys.size() == 1) {
    auto record = co_await call.store().get(keys.front());
    if (!record) co_return record.error();
    records.front() = std::move(*record);
    co_return records;
  }
  auto read = co_await call.store().look([&](const store::View& view) -> store::Result<void> {
    for (size_t i = 0; i < keys.size(); ++i) {
      auto record = view.get(keys[i]);
      if (!record) return record.error();
      records[i] = std::move(*record);
    }
    return {};
  });
  if (!read) co_return read.error();
  co_return records;
}

Result<std::vector<Changed>, Refusal> decide_all(const std::vector<Change>& changes,
                                                 const std::vector<store::RecordPtr>& before,
                                                 Time now) {
  std::vector<Changed> changed;
  for (size_t i = 0; i < changes.size(); ++i) {
    auto one = decide(changes[i], before[i], now);
    if (!one) return Refusal{i, one.error()};
    changed.push_back(std::move(*one));
  }
  return changed;
}

store::Commit make_commit(const std::vector<store::Key>& keys,
                          const std::vector<store::RecordPtr>& before,
                          const std::vector<Changed>& after) {
  store::Commit commit;
  for (size_t i = 0; i < keys.size(); ++i) {
    commit.expect(keys[i], before[i]);
    commit.put(keys[i], after[i].record);
  }
  return commit;
}
}  // namespace

wire::Result<std::optional<Condition>> decode_condition(const Call& call) {
  const auto text = call.headers().find("If-Match");
  if (call.headers().has("If-None-Match") || call.headers().count("If-Match") > 1)
    return wire::Error(Code::kInvalidInput);
  if (!text) return std::optional<Condition>();
  if (*text == "*") return std::optional(Condition{.any = true, .timestamp = {}});
  // Entities have weak tags only.
  constexpr std::string_view kBegin = "W/\"";
  std::string_view tag = *text;
  const bool weak = tag.starts_with(kBegin) && tag.size() > kBegin.size() && tag.ends_with('"');
  if (!weak) return invalid_tag(*text);
  tag = tag.substr(kBegin.size(), tag.size() - kBegin.size() - 1);
  if (tag.find('"') != std::string_view::npos) return invalid_tag(*text);
  return std::optional(Condition{.any = false, .timestamp = timestamp_of(tag)});
}

wire::Result<Change> decode_change(const Call& call, Verb verb, std::string_view body) {
  Change change;
  change.verb = verb;
  auto condition = decode_condition(call);
  if (!condition) return condition.error();
  change.condition = *condition;
  const bool upsert = (verb == Verb::kReplace || verb == Verb::kMerge) && !change.condition;
  if (upsert) {
    if (auto allowed = check_upsert_permission(call); !allowed) return allowed.error();
  }
  EntityInput input;
  if (verb != Verb::kDelete) {
    if (auto typed = check_content_type(call); !typed) return typed.error();
    auto parsed = parse_entity(body);
    if (!parsed) return parsed.error();
    input = std::move(*parsed);
  }
  if (auto taken = take_keys(call, input, change); !taken) return taken.error();
  if (auto valid = check_key(kPartitionKey, change.partition); !valid) return valid.error();
  if (auto valid = check_key(kRowKey, change.row); !valid) return valid.error();
  if (auto reached = check_reach(call, change); !reached) return reached.error();
  if (auto fits = check_size(change.partition, change.row, input.properties); !fits)
    return fits.error();
  change.properties = std::move(input.properties);
  return change;
}

wire::Result<Changed> decide(const Change& change, const store::RecordPtr& before, Time now) {
  std::optional<Entity> entity;
  if (before != nullptr) {
    entity = decode_entity(change.partition, change.row, before->value);
    if (!entity) return service::storage_error(store::Error::kCorrupt);
  }
  if (change.verb == Verb::kInsert && entity) return wire::Error(Code::kEntityAlreadyExists);
  if (change.condition) {
    if (!entity) return wire::Error(Code::kResourceNotFound);
    if (!change.condition->any && change.condition->timestamp != entity->timestamp)
      return wire::Error(Code::kUpdateConditionNotSatisfied);
  }
  const Time timestamp = concurrency::next_modified(now, entity ? entity->timestamp : Time{});
  switch (change.verb) {
    case Verb::kDelete:
      if (!entity) return wire::Error(Code::kResourceNotFound);
      return Changed{};
    case Verb::kInsert:
    case Verb::kReplace:
      return make(change, timestamp, change.properties);
    case Verb::kMerge: {
      if (!entity) return make(change, timestamp, change.properties);
      const std::string merged = merge_properties(entity->properties, change.properties);
      if (count_properties(merged) > kMaxProperties) return wire::Error(Code::kTooManyProperties);
      return make(change, timestamp, merged);
    }
  }
  return wire::Error(Code::kInternalError);
}

Task<Result<std::vector<Changed>, Refusal>> apply_changes(Call& call, store::SpaceId space,
                                                          const std::vector<Change>& changes) {
  std::vector<store::Key> keys;
  keys.reserve(changes.size());
  for (const auto& change : changes)
    keys.emplace_back(space, kEntities, change.partition, change.row);
  // Inserts mostly find nothing: the first try takes that for granted and waits for nobody, and its
  // guards find out.
  const bool guess = std::all_of(changes.begin(), changes.end(),
                                 [](const Change& change) { return change.verb == Verb::kInsert; });
  auto decide = [&](store::Attempt& attempt) -> Task<Result<std::vector<Changed>, Refusal>> {
    std::vector<store::RecordPtr> before(keys.size());
    if (!guess || !attempt.is_first()) {
      if (auto turn = co_await attempt.wait_for(keys); !turn)
        co_return Refusal{0, service::storage_error(turn.error())};
      auto records = co_await read_all(call, keys);
      if (!records) co_return Refusal{0, service::storage_error(records.error())};
      before = std::move(*records);
    }
    auto after = decide_all(changes, before, call.now);
    if (after) attempt.commit = make_commit(keys, before, *after);
    co_return after;
  };
  co_return co_await store::transact(call, decide);
}

}  // namespace kyanite::table
