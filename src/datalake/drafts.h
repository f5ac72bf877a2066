// Bytes that were appended to a file and wait to be flushed. They lie apart by position, under the
// number of the file's draft: a flush that takes none of them along leaves them to their end by
// giving the file another number.
#pragma once

#include <cstdint>
#include <string>

#include "base/task.h"
#include "blob/blob.h"
#include "content/content.h"
#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::datalake {

// The rules for both ways to write: the path must be there.
inline constexpr blob::Rules kWritesFile{.use = concurrency::LeaseUse::kExclusive,
                                         .operation = concurrency::Operation::kUpdate,
                                         .accepts = concurrency::kAcceptsAll,
                                         .key = blob::KeyUse::kNeeds,
                                         .needs_online = true};

// A file that this API may write to: no directory, and not made of blocks by the Blob API.
// `refusal` is what else is called.
wire::Result<void> check_writable(const blob::Blob& blob, wire::Code refusal);

// Adds the bytes to the commit; what was appended at the same position before is replaced.
void put_appended(const blob::Place& place, const blob::Blob& blob, uint64_t position,
                  const content::Pieces& pieces, std::string key_sha256, Time now,
                  store::Commit& commit);

// Makes what was appended up to `position` content. `last` are bytes that come with the request
// itself and end there. InvalidFlushPosition when there is a gap.
Task<wire::Result<void>> flush(service::Call& call, blob::Change& change, uint64_t position,
                               bool retain, const content::Pieces& last);

// What the request that flushes says of the content takes the place of what was said of it before.
void replace_properties(headers::HttpProperties said, blob::Blob& blob);

// Where there are no directories, what waits lies by the file's name, so it is taken along when
// that changes, under the same number. `leaves`: it leaves the old name by the same commit.
Task<wire::Result<void>> move_appended(service::Call& call, const blob::Place& from,
                                       const blob::Place& to, uint64_t draft, bool leaves,
                                       store::Commit& commit);

// x-ms-lease-action of Append Data and Flush Data: what becomes of the lease by the same step.
struct LeaseOrder {
  enum class Kind { kNone, kAcquire, kRenew, kRelease, kAcquireRelease };
  Kind kind = Kind::kNone;
  std::string proposed;
  int32_t duration_s = 0;
  std::string id;  // renew, release

  bool acquires() const { return kind == Kind::kAcquire || kind == Kind::kAcquireRelease; }
};
wire::Result<LeaseOrder> decode_lease_order(const service::Call& call);
// Before the checks of a lease in use: what is about to be acquired is not there yet, and one that
// is renewed may have run out.
void ease_lease_check(const LeaseOrder& order, blob::Checks& checks);
// Before the write, which makes an expired lease forget its holder: acquires or renews it.
wire::Result<void> begin_lease_order(const LeaseOrder& order, Time now, blob::Blob& blob);
// After the write: releases it.
wire::Result<void> end_lease_order(const LeaseOrder& order, Time now, blob::Blob& blob);
void encode_lease_order(http::Reply& reply, const LeaseOrder& order);

// position; 400 when it is missing.
wire::Result<uint64_t> decode_position(const service::Call& call);
// A parameter that is "true" or "false", which it is when absent.
wire::Result<bool> decode_flag(const service::Call& call, std::string_view parameter);

}  // namespace kyanite::datalake
