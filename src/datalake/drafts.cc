#include "datalake/drafts.h"

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "blob/blocks.h"
#include "headers/lease.h"
#include "store/fields.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;
using wire::Code;

namespace {

// What one flush takes. More are flushed in several steps.
constexpr size_t kMaxParts = 50'000;

store::Key appended_key(const blob::Place& place, uint64_t draft, uint64_t position) {
  std::string row;
  append_be64(row, draft);
  append_be64(row, position);
  return store::Key(place.space(), blob::kAppended, place.own(), row);
}

struct Part {
  store::Key key;
  store::RecordPtr record;
  uint64_t position = 0;
};

// How many parts are looked up one by one, which needs no other thread while they are in memory.
constexpr size_t kPartsLookedUp = 16;

// Adds what was appended at `at`, and moves that to its end. False: nothing was.
Task<wire::Result<bool>> look_up(Call& call, const blob::Place& place, const Blob& blob,
                                 uint64_t& at, std::vector<Part>& parts) {
  auto key = appended_key(place, blob.draft, at);
  auto record = co_await call.store().get(key);
  if (!record) co_return service::storage_error(record.error());
  if (*record == nullptr) co_return false;
  const auto block = store::decode<blob::Block>((*record)->value);
  if (!block) co_return service::storage_error(store::Error::kCorrupt);
  parts.push_back({std::move(key), *record, at});
  at += block->size;
  co_return true;
}

// What was appended from the end of the file on, as far as it goes without a gap, below `end`.
Task<wire::Result<std::vector<Part>>> contiguous(Call& call, const blob::Place& place,
                                                 const Blob& blob, uint64_t end) {
  std::vector<Part> parts;
  uint64_t at = blob.content.length;
  while (at < end && parts.size() < kPartsLookedUp) {
    auto found = co_await look_up(call, place, blob, at, parts);
    if (!found) co_return found.error();
    if (!*found) co_return std::move(parts);
  }
  if (at >= end) co_return std::move(parts);
  std::string draft;
  append_be64(draft, blob.draft);
  auto range = store::Range::rows(place.space(), blob::kAppended, place.own(), draft);
  range.start_at(appended_key(place, blob.draft, at).bytes());
  bool too_many = false;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    const uint64_t position = read_be64(key.row().data() + sizeof(uint64_t));
    if (position != at || position >= end) return false;
    auto record = cursor.record();
    if (!record) return record.error();
    const auto block = store::decode<blob::Block>((*record)->value);
    if (!block) return store::Error::kCorrupt;
    at += block->size;
    parts.push_back({std::move(key), *record, position});
    too_many = parts.size() > kMaxParts;
    return !too_many;
  };
  auto listed = co_await store::scan(call.store(), std::move(range), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  if (too_many) {
    co_return wire::Error(Code::kInvalidFlushPosition)
        .saying("One flush takes at most 50,000 appended parts; flush more often.");
  }
  co_return std::move(parts);
}

}  // namespace

wire::Result<void> check_writable(const Blob& blob, Code refusal) {
  if (blob::is_folder(blob)) return wire::Error(Code::kResourceTypeMismatch);
  const bool is_writable =
      blob.type == blob::BlobType::kBlock ? blob.committed_blocks == 0 : blob.is_lake_file();
  if (!is_writable) return wire::Error(refusal);
  return {};
}

void put_appended(const blob::Place& place, const Blob& blob, uint64_t position,
                  const content::Pieces& pieces, std::string key_sha256, Time now,
                  store::Commit& commit) {
  const blob::Block part{now, content::length_of(pieces), {}, std::move(key_sha256)};
  commit.put(appended_key(place, blob.draft, position), blob::to_record(part, pieces));
}

Task<wire::Result<void>> flush(Call& call, blob::Change& change, uint64_t position, bool retain,
                               const content::Pieces& last) {
  Blob& blob = *change.blob;
  const uint64_t brought = content::length_of(last);
  if (position < brought || position - brought < blob.content.length)
    co_return wire::Error(Code::kInvalidFlushPosition);
  auto parts = co_await contiguous(call, change.place, blob, position - brought);
  if (!parts) co_return parts.error();
  content::Pieces pieces;
  uint64_t length = blob.content.length;
  for (auto& part : *parts) {
    const auto block = store::decode<blob::Block>(part.record->value);
    auto more = block ? blob::pieces_of(*block, *part.record) : std::nullopt;
    if (!more) co_return service::storage_error(store::Error::kCorrupt);
    length += block->size;
    for (auto& piece : *more) pieces.push_back(std::move(piece));
    change.commit.expect(part.key, part.record);
    change.commit.remove(part.key);
  }
  if (length != position - brought) co_return wire::Error(Code::kInvalidFlushPosition);
  for (const auto& piece : last) pieces.push_back(piece);
  if (!pieces.empty())
    content::append(change.commit, change.place.content(), blob.content, std::move(pieces));
  if (!retain) blob.draft = random_u64() | 1;
  blob::touch(call, blob);
  co_return wire::Result<void>();
}

void replace_properties(headers::HttpProperties said, Blob& blob) {
  blob.http = std::move(said);
  if (blob.http.content_type.empty()) blob.http.content_type = "application/octet-stream";
}

Task<wire::Result<void>> move_appended(Call& call, const blob::Place& from, const blob::Place& to,
                                       uint64_t draft, bool leaves, store::Commit& commit) {
  std::string number;
  append_be64(number, draft);
  std::vector<Part> parts;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto key = store::Key::from_bytes(std::string(cursor.key()));
    auto record = cursor.record();
    if (!record) return record.error();
    const uint64_t position = read_be64(key.row().data() + sizeof(uint64_t));
    parts.push_back({std::move(key), *record, position});
    return parts.size() <= kMaxParts;
  };
  auto range = store::Range::rows(from.space(), blob::kAppended, from.own(), number);
  auto listed = co_await store::scan(call.store(), std::move(range), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  if (parts.size() > kMaxParts) {
    co_return wire::Error(Code::kInvalidInput)
        .saying("More than 50,000 appended parts wait to be flushed; flush them first.");
  }
  for (Part& part : parts) {
    commit.put(appended_key(to, draft, part.position), part.record);
    if (!leaves) continue;
    commit.expect(part.key, part.record);
    commit.remove(std::move(part.key));
  }
  co_return wire::Result<void>();
}

wire::Result<LeaseOrder> decode_lease_order(const Call& call) {
  constexpr std::string_view kAction = "x-ms-lease-action";
  constexpr std::string_view kDuration = "x-ms-lease-duration";
  constexpr std::string_view kProposed = "x-ms-proposed-lease-id";
  using Kind = LeaseOrder::Kind;
  LeaseOrder order;
  const auto text = call.headers().find(kAction);
  if (!text || text->empty()) return order;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"acquire", Kind::kAcquire},
      {"auto-renew", Kind::kRenew},
      {"release", Kind::kRelease},
      {"acquire-release", Kind::kAcquireRelease}};
  for (const auto& [name, kind] : kKinds) {
    if (equals_ignoring_case(*text, name)) order.kind = kind;
  }
  if (order.kind == Kind::kNone) return wire::invalid_header(kAction, *text);
  if (!order.acquires()) {
    auto id = headers::decode_lease_id(call);
    if (!id) return id.error();
    if (!*id) return wire::missing_header("x-ms-lease-id");
    order.id = **id;
    return order;
  }
  auto proposed = headers::decode_guid(call, kProposed);
  if (!proposed) return proposed.error();
  if (!*proposed) return wire::missing_header(kProposed);
  order.proposed = **proposed;
  const auto duration = call.headers().find(kDuration);
  if (!duration && order.kind == Kind::kAcquire) return wire::missing_header(kDuration);
  const auto seconds = duration ? parse_int(*duration) : std::optional<int64_t>(-1);
  if (!seconds || !concurrency::is_valid_lease_duration(concurrency::kBlobLeaseRules, *seconds))
    return wire::invalid_header(kDuration, *duration);
  order.duration_s = static_cast<int32_t>(*seconds);
  return order;
}

void ease_lease_check(const LeaseOrder& order, blob::Checks& checks) {
  // Whoever acquires again what it holds already presents the id by proposing it.
  if (order.acquires() || order.kind == LeaseOrder::Kind::kRenew) {
    checks.rules.use = concurrency::LeaseUse::kShared;
    checks.lease_id.reset();
  }
}

namespace {

// A use of the lease, not an operation on it.
wire::Result<void> use_lease(const headers::LeaseAction& action, Time now, Blob& blob) {
  auto applied = headers::apply_lease(action, blob.lease, concurrency::kBlobLeaseRules, now);
  if (applied) return {};
  if (applied.error().code == Code::kLeaseIdMismatchWithLeaseOperation)
    return wire::Error(Code::kLeaseIdMismatch);
  if (applied.error().code == Code::kLeaseNotPresentWithLeaseOperation)
    return wire::Error(Code::kLeaseNotPresent);
  return applied.error();
}

}  // namespace

wire::Result<void> begin_lease_order(const LeaseOrder& order, Time now, Blob& blob) {
  headers::LeaseAction action;
  if (order.acquires()) {
    action.kind = headers::LeaseAction::Kind::kAcquire;
    action.proposed = order.proposed;
    action.duration_s = order.duration_s;
  } else if (order.kind == LeaseOrder::Kind::kRenew) {
    action.kind = headers::LeaseAction::Kind::kRenew;
    action.id = order.id;
  } else {
    return {};
  }
  return use_lease(action, now, blob);
}

wire::Result<void> end_lease_order(const LeaseOrder& order, Time now, Blob& blob) {
  if (order.kind != LeaseOrder::Kind::kRelease && order.kind != LeaseOrder::Kind::kAcquireRelease)
    return {};
  headers::LeaseAction action;
  action.kind = headers::LeaseAction::Kind::kRelease;
  action.id = order.acquires() ? order.proposed : order.id;
  return use_lease(action, now, blob);
}

void encode_lease_order(http::Reply& reply, const LeaseOrder& order) {
  if (order.kind == LeaseOrder::Kind::kRenew) reply.header("x-ms-lease-renewed", "true");
}

wire::Result<uint64_t> decode_position(const Call& call) {
  constexpr std::string_view kPosition = "position";
  const auto text = call.query.find(kPosition);
  if (!text)
    return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", kPosition);
  const auto position = parse_uint(*text);
  constexpr uint64_t kMostBytes = uint64_t{1} << 48;  // Longer than any file.
  if (!position || *position > kMostBytes) return wire::invalid_query(kPosition, *text);
  return *position;
}

wire::Result<bool> decode_flag(const Call& call, std::string_view parameter) {
  const auto text = call.query.find(parameter);
  if (!text || text->empty() || equals_ignoring_case(*text, "false")) return false;
  if (equals_ignoring_case(*text, "true")) return true;
  return wire::invalid_query(parameter, *text);
}

}  // namespace kyanite::datalake
