// The Lease operation, the same for blobs, containers, shares and files: decode the action, apply
// it, answer.
#pragma once

#include <optional>
#include <string>

#include "concurrency/lease.h"
#include "object/lease.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::headers {

using object::StoredLease;

struct LeaseAction {
  enum class Kind { kAcquire, kRenew, kChange, kRelease, kBreak };
  Kind kind = Kind::kAcquire;
  std::string id;        // renew, change, release
  std::string proposed;  // acquire (random when the client proposes none), change
  int32_t duration_s = 0;
  std::optional<int32_t> break_period_s;
};

// Decides everything that can be wrong with the headers alone.
wire::Result<LeaseAction> decode_lease_action(const service::Call& call,
                                              const concurrency::LeaseRules& rules);

// Applies the action. Of a break it returns the seconds until the object can be leased again, else
// 0.
wire::Result<int32_t> apply_lease(const LeaseAction& action, concurrency::Lease& lease,
                                  const concurrency::LeaseRules& rules, Time now);
// What is answered once that is durable, without ETag and Last-Modified, which do not change.
http::Reply leased_reply(const LeaseAction& action, const concurrency::Lease& lease,
                         int32_t seconds);

// x-ms-lease-status, -state and -duration.
void encode_lease(http::Reply& reply, const concurrency::Lease& lease, Time now);
// LeaseStatus, LeaseState and LeaseDuration of a listing.
void write_lease(wire::XmlWriter& xml, const concurrency::Lease& lease, Time now);

}  // namespace kyanite::headers
