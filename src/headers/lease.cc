#include "headers/lease.h"

#include "base/bytes.h"
#include "base/random.h"
#include "headers/conditions.h"

namespace kyanite::headers {

using concurrency::LeaseState;
using Kind = LeaseAction::Kind;

namespace {

// Leases have durations that clients choose.
constexpr wire::Version kChosenDurations{20120212};

constexpr std::string_view kAction = "x-ms-lease-action";
constexpr std::string_view kDuration = "x-ms-lease-duration";
constexpr std::string_view kBreakPeriod = "x-ms-lease-break-period";
constexpr std::string_view kLeaseId = "x-ms-lease-id";
constexpr std::string_view kProposedId = "x-ms-proposed-lease-id";

wire::Result<Kind> decode_kind(const service::Call& call, const concurrency::LeaseRules& rules) {
  const auto text = call.headers().find(kAction);
  if (!text) return wire::missing_header(kAction);
  const std::string action = ascii_lower(*text);
  if (action == "acquire") return Kind::kAcquire;
  if (action == "renew" && rules.renewable) return Kind::kRenew;
  if (action == "change") return Kind::kChange;
  if (action == "release") return Kind::kRelease;
  if (action == "break") return Kind::kBreak;
  return wire::invalid_header(kAction, *text);
}

wire::Result<int32_t> decode_duration(const service::Call& call,
                                      const concurrency::LeaseRules& rules) {
  const auto text = call.headers().find(kDuration);
  // Leases were all of one minute before they could be chosen.
  if (!text && call.version < kChosenDurations) return concurrency::kMaxLeaseSeconds;
  if (!text) return wire::missing_header(kDuration);
  const auto seconds = parse_int(*text);
  if (!seconds || !concurrency::is_valid_lease_duration(rules, *seconds))
    return wire::invalid_header(kDuration, *text);
  return static_cast<int32_t>(*seconds);
}

wire::Result<std::string> required_guid(const service::Call& call, std::string_view header) {
  auto id = decode_guid(call, header);
  if (!id) return id.error();
  if (!*id) return wire::missing_header(header);
  return **id;
}

}  // namespace

wire::Result<LeaseAction> decode_lease_action(const service::Call& call,
                                              const concurrency::LeaseRules& rules) {
  LeaseAction action;
  auto kind = decode_kind(call, rules);
  if (!kind) return kind.error();
  action.kind = *kind;
  if (action.kind == Kind::kAcquire) {
    auto duration = decode_duration(call, rules);
    if (!duration) return duration.error();
    action.duration_s = *duration;
    auto proposed = decode_guid(call, kProposedId);
    if (!proposed) return proposed.error();
    action.proposed = proposed->value_or(std::string());
    if (action.proposed.empty()) action.proposed = random_uuid();
    return action;
  }
  if (action.kind == Kind::kBreak) {
    const auto text = call.headers().find(kBreakPeriod);
    if (!text) return action;
    const auto seconds = parse_int(*text);
    if (!seconds || !concurrency::is_valid_break_period(*seconds))
      return wire::invalid_header(kBreakPeriod, *text);
    action.break_period_s = static_cast<int32_t>(*seconds);
    return action;
  }
  auto id = required_guid(call, kLeaseId);
  if (!id) return id.error();
  action.id = *id;
  if (action.kind == Kind::kChange) {
    auto proposed = required_guid(call, kProposedId);
    if (!proposed) return proposed.error();
    action.proposed = *proposed;
  }
  return action;
}

wire::Result<int32_t> apply_lease(const LeaseAction& action, concurrency::Lease& lease,
                                  const concurrency::LeaseRules& rules, Time now) {
  const auto apply = [&]() -> Result<void, concurrency::LeaseError> {
    switch (action.kind) {
      case Kind::kAcquire:
        return concurrency::acquire_lease(lease, action.proposed, action.duration_s, now);
      case Kind::kRenew:
        return concurrency::renew_lease(lease, action.id, now);
      case Kind::kChange:
        return concurrency::change_lease(lease, action.id, action.proposed, now);
      case Kind::kRelease:
        return concurrency::release_lease(lease, action.id);
      case Kind::kBreak:
        break;
    }
    CHECK(false);
  };
  if (action.kind == Kind::kBreak) {
    auto seconds = concurrency::break_lease(lease, rules, action.break_period_s, now);
    if (!seconds) return lease_error(seconds.error());
    return *seconds;
  }
  if (auto done = apply(); !done) return lease_error(done.error());
  return 0;
}

http::Reply leased_reply(const LeaseAction& action, const concurrency::Lease& lease,
                         int32_t seconds) {
  switch (action.kind) {
    case Kind::kAcquire:
      return std::move(http::Reply(201).header(kLeaseId, lease.id));
    case Kind::kRenew:
    case Kind::kChange:
      return std::move(http::Reply(200).header(kLeaseId, lease.id));
    case Kind::kRelease:
      return http::Reply(200);
    case Kind::kBreak:
      return std::move(http::Reply(202).header("x-ms-lease-time", static_cast<uint64_t>(seconds)));
  }
  CHECK(false);
}

namespace {
// The three texts by which a lease shows; the duration is empty unless the lease is held.
struct Shown {
  std::string_view status, state, duration;
};
Shown show(const concurrency::Lease& lease, Time now) {
  const auto state = concurrency::lease_state(lease, now);
  std::string_view duration;
  if (state == LeaseState::kLeased)
    duration = lease.duration_s == concurrency::kInfiniteLease ? "infinite" : "fixed";
  return {concurrency::is_locked(state) ? "locked" : "unlocked",
          concurrency::lease_state_name(state), duration};
}
}  // namespace

void encode_lease(http::Reply& reply, const concurrency::Lease& lease, Time now) {
  const auto shown = show(lease, now);
  reply.header("x-ms-lease-status", shown.status).header("x-ms-lease-state", shown.state);
  if (!shown.duration.empty()) reply.header(kDuration, shown.duration);
}

void write_lease(wire::XmlWriter& xml, const concurrency::Lease& lease, Time now) {
  const auto shown = show(lease, now);
  xml.plain("LeaseStatus", shown.status).plain("LeaseState", shown.state);
  xml.optional("LeaseDuration", shown.duration);
}

}  // namespace kyanite::headers
