// Copy Blob: PUT /{container}/{blob} with x-ms-copy-source
//
// A source in this server is copied at once, by copying the list of its pieces; the bytes are
// shared and their number does not matter. From other servers the bytes are fetched in the
// background while the copy is pending (copy_pending.h).
#include "base/bytes.h"
#include "base/random.h"
#include "blob/blob.h"
#include "blob/blocks.h"
#include "blob/copy_pending.h"
#include "blob/copy_source.h"
#include "blob/handlers.h"
#include "blob/new_blob.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr Rules kCopies = [] {
  Rules rules = copy_rules(concurrency::LeaseUse::kCopyDestination, KeyUse::kRefuses);
  rules.unmet = Code::kTargetConditionNotMet;
  return rules;
}();

// What the request says of the copy to be made.
struct Order {
  NewBlob fresh;
  std::string rehydrate_priority;
  std::optional<bool> seal;
};

wire::Result<Order> decode_order(const Call& call) {
  Order order;
  auto fresh = decode_new_blob(call, BlobType::kBlock);
  if (!fresh) return fresh.error();
  order.fresh = std::move(*fresh);
  auto priority = decode_rehydrate_priority(call);
  if (!priority) return priority.error();
  order.rehydrate_priority = std::move(*priority);
  if (const auto seal = call.headers().find("x-ms-seal-blob")) {
    order.seal = equals_ignoring_case(*seal, "true");
    if (!*order.seal && !equals_ignoring_case(*seal, "false"))
      return wire::invalid_header("x-ms-seal-blob", *seal);
  }
  return order;
}

wire::Result<void> check_order(const Order& order, const Blob& from) {
  if (order.fresh.tier != Tier::kInferred && from.type != BlobType::kBlock)
    return wire::Error(Code::kInvalidBlobTier);
  // An archived blob can be copied only to bring the copy back.
  if (from.tier == Tier::kArchive &&
      (order.fresh.tier == Tier::kInferred || order.fresh.tier == Tier::kArchive)) {
    return wire::Error(Code::kBlobArchived);
  }
  return {};
}

// The copy's head, still without content.
Blob make_copy(const Call& call, const Order& order, const Source& source,
               const std::optional<Blob>& before) {
  const Blob& from = *source.found.blob;
  NewBlob fresh = order.fresh;
  fresh.http = from.http;
  if (fresh.metadata.empty()) fresh.metadata = from.metadata;
  Blob blob = make_blob(call, from.type, fresh, before);
  blob.committed_blocks = from.committed_blocks;
  blob.sequence_number = from.sequence_number;
  blob.sealed = order.seal.value_or(from.sealed) && from.type == BlobType::kAppend;
  if (from.tier == Tier::kArchive) {
    blob.tier = Tier::kArchive;
    blob.rehydrate_to = order.fresh.tier;
    blob.rehydrate_priority = order.rehydrate_priority;
    blob.rehydrated = after_seconds(call.now, call.settings().rehydration_s);
  }
  blob.copy.id = random_uuid();
  blob.copy.source = source.url;
  blob.copy.status = CopyStatus::kSuccess;
  blob.copy.copied = blob.copy.total = from.content.length;
  blob.copy.completed = call.now;
  return blob;
}

// Gives the copy the content of the source. kConflict when the source has changed meanwhile.
Task<store::Result<void>> share_content(Call& call, const Source& source, Change& change) {
  Blob& blob = *change.blob;
  const Blob& from = *source.found.blob;
  const store::Guard head = source.head();
  auto copied = co_await content::copy(call.store(), change.commit, source.place(), from.content,
                                       change.place.content(), head, call.deadline);
  if (!copied) co_return copied.error();
  blob.content = *copied;
  if (from.type != BlobType::kBlock || from.committed_blocks == 0) co_return store::Result<void>();
  const content::Place place = source.place();
  auto list = co_await call.store().get(block_list_key(place, from.content.id));
  if (!list) co_return list.error();
  if (*list == nullptr) co_return store::Error::kConflict;
  change.commit.put(block_list_key(change.place.content(), blob.content.id), *list);
  co_return store::Result<void>();
}

// One attempt; `source_changed` tells that the source was changed while it was copied.
Outcome copy_local(Call& call, const Checks& checks, const Order& order, const Source& source,
                   bool& source_changed) {
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    if (auto allowed = check_overwrite(call, change.blob, source.found.blob->type); !allowed)
      co_return allowed.error();
    auto dropped = co_await drop_blocks(call, change.place, change.commit);
    if (!dropped) co_return dropped.error();
    change.blob = make_copy(call, order, source, change.blob);
    if (auto shared = co_await share_content(call, source, change); !shared) {
      source_changed = shared.error() == store::Error::kConflict;
      if (source_changed)
        co_return wire::Error(Code::kServerBusy);  // To be opened again, not here.
      co_return service::storage_error(shared.error());
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(call.version >= wire::kAsynchronousCopies ? 202 : 201);
  encode_state(reply, *changed);
  if (call.version >= wire::kAsynchronousCopies) headers::encode_copy_started(reply, changed->copy);
  co_return reply;
}

}  // namespace

Outcome copy_blob(Call& call) {
  auto order = decode_order(call);
  if (!order) co_return order.error();
  auto checks = decode_checks(call, kCopies);
  if (!checks) co_return checks.error();
  auto destination = co_await check_destination(call, *checks);
  if (!destination) co_return destination.error();
  auto attempt = [&]() -> Outcome {
    auto source = co_await open_source(call, CopyFamily::kCopyBlob);
    if (!source) co_return source.error();
    if (destination->postponed) co_return *destination->postponed;
    if (!source->is_local())
      co_return co_await start_pending_copy(call, *checks, std::move(order->fresh), *source);
    if (auto possible = check_order(*order, *source->found.blob); !possible)
      co_return possible.error();
    bool changed = false;
    auto copied = co_await copy_local(call, *checks, *order, *source, changed);
    if (changed) co_return service::decide_again();
    co_return copied;
  };
  co_return co_await service::answer_whole(call, attempt);
}

}  // namespace kyanite::blob
