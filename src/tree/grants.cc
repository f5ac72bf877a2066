#include "tree/grants.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace kyanite::tree {

using concurrency::Caching;
using concurrency::kHandleCaching;
using concurrency::kNoCaching;
using concurrency::kReadCaching;

bool Grants::Grant::of(HandleId handle) const {
  return std::any_of(members.begin(), members.end(),
                     [&](const Member& member) { return member.handle == handle; });
}

const Grants::Member* Grants::Grant::live() const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [](const Member& member) { return member.holder != nullptr; });
  return found == members.end() ? nullptr : &*found;
}

Grants::Grant* Grants::find(HandleId handle) {
  for (Grant& grant : grants_) {
    if (grant.of(handle)) return &grant;
  }
  return nullptr;
}

Grants::Grant* Grants::find(const LeaseName& lease) {
  for (Grant& grant : grants_) {
    if (grant.lease == lease) return &grant;
  }
  return nullptr;
}

// --- Breaks ---

void Grants::begin_break(Grant& grant, Caching kept, Moment now, CacheBreaks& breaks) {
  const Member* live = grant.live();
  // A further step of the same break is no new state to the client.
  if (!grant.breaking) ++grant.epoch;
  const CacheBreak broken{live != nullptr ? live->handle : 0, grant.lease, grant.held, kept,
                          must_acknowledge(grant.held),       grant.epoch};
  if (broken.acknowledge) {
    if (!grant.breaking) ++breaking_;
    grant.breaking = true;
    grant.requested = kept;
    grant.reminders = 0;
    grant.until = after_seconds(now, kBreakSeconds);
  } else {
    end_break(grant);
    grant.held = kept;
  }
  if (live != nullptr) breaks.add(live->holder, broken);
}

void Grants::end_break(Grant& grant) {
  if (std::exchange(grant.breaking, false)) --breaking_;
}

Grants::Disturbed Grants::disturb(const Doer& doer, const Rule& rule, Moment now,
                                  CacheBreaks& breaks, HandleId only) {
  Disturbed disturbed;
  for (Grant& grant : grants_) {
    if (only != 0 && !grant.of(only)) continue;
    // An oplock that only reads is nobody's own: it ends with any write, as Windows has it.
    const bool own = grant.of(doer);
    if (own && (grant.lease || grant.held != kReadCaching)) continue;
    const auto effect = rule(grant.kind(), grant.held);
    if (effect.kept == grant.held) continue;
    if (grant.breaking) {
      // One break at a time; the acknowledgement of this one is followed by the next, and who needs
      // that waits for both.
      grant.required = grant.required & effect.kept;
      if (!grant.requested.within(effect.kept)) disturbed.waits = true;
    } else if (must_acknowledge(grant.held) && grant.live() == nullptr) {
      for (const Member& member : grant.members) disturbed.gone.push_back(member.handle);
      continue;
    } else {
      grant.required = effect.kept;
      begin_break(grant, effect.kept, now, breaks);
    }
    if (effect.waits) disturbed.waits = true;
  }
  return disturbed;
}

kyanite::Result<void, AcknowledgeError> Grants::acknowledge(Grant* grant, Caching kept, Moment now,
                                                            CacheBreaks& breaks) {
  if (grant == nullptr) return AcknowledgeError::kUnknown;
  if (!grant->breaking) return AcknowledgeError::kNotBreaking;
  if (!kept.within(grant->requested)) return AcknowledgeError::kTooMuch;
  grant->held = kept;
  if (kept.within(grant->required)) {
    end_break(*grant);
    return {};
  }
  // In steps: reading goes last.
  Caching next = grant->required & kept;
  if (must_acknowledge(kept)) next = next | (kept & kReadCaching);
  begin_break(*grant, next, now, breaks);
  return {};
}

kyanite::Result<void, AcknowledgeError> Grants::acknowledge(HandleId handle, Caching kept,
                                                            Moment now, CacheBreaks& breaks) {
  Grant* grant = find(handle);
  if (grant != nullptr && grant->lease) grant = nullptr;
  return acknowledge(grant, kept, now, breaks);
}

kyanite::Result<void, AcknowledgeError> Grants::acknowledge(const LeaseName& lease, Caching kept,
                                                            Moment now, CacheBreaks& breaks) {
  return acknowledge(find(lease), kept, now, breaks);
}

void Grants::remind(Moment now, CacheBreaks& breaks) {
  if (breaking_ == 0) return;
  for (Grant& grant : grants_) {
    if (!grant.breaking) continue;
    const auto next = static_cast<int64_t>(grant.reminders + 1) * kReminderSeconds;
    if (now < after_seconds(grant.until, next - kBreakSeconds)) continue;
    const Member* live = grant.live();
    if (live == nullptr) continue;
    breaks.add(live->holder, {live->handle, grant.lease, grant.held, grant.requested, true,
                              grant.epoch, ++grant.reminders});
  }
}

bool Grants::expire(Moment now) {
  if (breaking_ == 0) return false;
  bool any = false;
  for (Grant& grant : grants_) {
    if (!grant.breaking || now < grant.until) continue;
    end_break(grant);
    grant.held = kNoCaching;
    any = true;
  }
  return any;
}

bool Grants::breaking_beside(const Doer& doer) const {
  return breaking_ != 0 && std::any_of(grants_.begin(), grants_.end(), [&](const Grant& grant) {
           return grant.breaking && !grant.of(doer);
         });
}

// --- Grants ---

concurrency::Beside Grants::beside(const Doer& doer) const {
  concurrency::Beside beside;
  for (const Grant& grant : grants_) {
    if (grant.of(doer) || grant.held.empty()) continue;
    beside.opens = true;
    if (grant.held.has(concurrency::kWriteCaching)) beside.writing = true;
    if (!grant.lease) beside.oplocks = true;
    if (grant.lease && grant.held.has(kHandleCaching)) beside.handle_leases = true;
  }
  return beside;
}

void Grants::grant(HandleId handle, const CachingWanted& wanted, Caching granted) {
  if (Grant* known = wanted.lease ? find(*wanted.lease) : nullptr) {
    known->members.push_back({handle, wanted.holder});
    const Caching held = upgraded(known->held, wanted.caching, granted);
    if (known->breaking || held == known->held) return;
    known->held = held;
    ++known->epoch;
    return;
  }
  // A lease without anything is one all the same: other opens under its key may add to it.
  if (!wanted.lease && granted.empty()) return;
  Grant added;
  added.lease = wanted.lease;
  added.held = granted;
  added.counts_epochs = wanted.counts_epochs;
  added.epoch = static_cast<uint16_t>(wanted.epoch + 1);
  added.members.push_back({handle, wanted.holder});
  grants_.push_back(std::move(added));
}

std::optional<CachingState> Grants::of(HandleId handle) const {
  const Grant* grant = find(handle);
  if (grant == nullptr) return std::nullopt;
  return CachingState{grant->held, grant->lease.has_value(), grant->breaking, grant->counts_epochs,
                      grant->epoch};
}

std::optional<LeaseName> Grants::remove(HandleId handle) {
  const auto grant = std::find_if(grants_.begin(), grants_.end(),
                                  [&](const Grant& each) { return each.of(handle); });
  if (grant == grants_.end()) return std::nullopt;
  std::erase_if(grant->members, [&](const Member& member) { return member.handle == handle; });
  if (!grant->members.empty()) return std::nullopt;
  end_break(*grant);
  const auto over = grant->lease;
  grants_.erase(grant);
  return over;
}

void Grants::set_holder(HandleId handle, std::shared_ptr<CacheHolder> holder) {
  Grant* grant = find(handle);
  if (grant == nullptr) return;
  for (Member& member : grant->members) {
    if (member.handle == handle) member.holder = std::move(holder);
  }
}

}  // namespace kyanite::tree
