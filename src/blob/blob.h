// Reading and changing blobs: what every blob operation shares. An operation decodes its headers,
// then either read_blob()s or change_blob()s; leases and conditional headers are looked at here and
// nowhere else.
#pragma once

#include <optional>
#include <string>

#include "base/task.h"
#include "blob/container.h"
#include "blob/records.h"
#include "concurrency/lease.h"
#include "concurrency/preconditions.h"
#include "content/content.h"
#include "service/call.h"
#include "service/conditions.h"
#include "service/storage.h"
#include "wire/error.h"

namespace kyanite::blob {

// How an operation meets leases and conditional headers; one constant per class of operation.
struct Rules {
  concurrency::LeaseUse use;
  concurrency::Operation operation;
  concurrency::ConditionSet accepts;
};
inline constexpr Rules kCreates{concurrency::LeaseUse::kExclusive, concurrency::Operation::kCreate,
                                concurrency::kAcceptsAll};
inline constexpr Rules kChanges{concurrency::LeaseUse::kExclusive, concurrency::Operation::kUpdate,
                                concurrency::kAcceptsAll};

// The request's lease id and conditions, decoded: everything that can be refused without looking at
// the blob.
struct Checks {
  Rules rules;
  std::optional<std::string> lease_id;
  service::Asked asked;
};
wire::Result<Checks> decode_checks(const service::Call& call, const Rules& rules);

// Existence, lease, conditions, in this order. kCreate operations pass when there is no blob.
wire::Result<void> check_blob(const service::Call& call, const Checks& checks,
                              const std::optional<Blob>& blob);

store::Key head_key(const service::Call& call, store::SpaceId space);

struct Found {
  store::SpaceId space = 0;
  Blob blob;
};
// The blob a read operation addresses (404 when it or the container is missing), with lease id and
// conditions checked.
Task<wire::Result<Found>> read_blob(service::Call& call, concurrency::ConditionSet accepts);

// Removes the content that `before` had and `after` no longer has.
Task<wire::Result<void>> drop_replaced_content(service::Call& call, store::SpaceId space,
                                               const std::optional<Blob>& before,
                                               const std::optional<Blob>& after,
                                               store::Commit& commit);

// Read, decide, commit for one blob. After the checks `edit(std::optional<Blob>&, store::SpaceId,
// store::Commit&)` changes, creates or clears the blob, may add content to the commit, and returns
// the reply to give once all is durable. It may be called again after a conflict.
template <class Edit>
Task<wire::Result<http::Reply>> change_blob(service::Call& call, const Checks& checks, Edit edit) {
  auto container = co_await load_container(call);
  if (!container) co_return container.error();
  const auto space = container->space;
  const auto key = head_key(call, space);
  auto turn = co_await call.context.locks.lock(key.bytes());
  for (int tries = 0; tries < service::kMaxTries; ++tries) {
    auto loaded = co_await service::load<Blob>(call, key);
    if (!loaded) co_return loaded.error();
    if (auto passed = check_blob(call, checks, loaded->value); !passed) co_return passed.error();
    std::optional<Blob> blob = loaded->value;
    store::Commit commit;
    wire::Result<http::Reply> reply = edit(blob, space, commit);
    if (!reply) co_return reply;
    auto dropped = co_await drop_replaced_content(call, space, loaded->value, blob, commit);
    if (!dropped) co_return dropped.error();
    commit.guards.push_back({key, loaded->record});
    commit.writes.push_back({key, blob ? service::to_record(*blob) : nullptr});
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return reply;
    if (done.error() != store::Error::kConflict) co_return service::storage_error(done.error());
  }
  co_return wire::Error(wire::Code::kServerBusy);
}

// The headers that Get Blob and Get Blob Properties share.
void encode_properties(http::Reply& reply, const service::Call& call, const Blob& blob);

// x-ms-blob-content-* and x-ms-blob-cache-control of a request.
wire::Result<HttpProperties> decode_http_properties(const service::Call& call);

// Content-MD5 or x-ms-blob-content-md5: 16 bytes, or empty when absent.
wire::Result<std::string> decode_md5(const service::Call& call, std::string_view header);

}  // namespace kyanite::blob
