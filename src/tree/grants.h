// What clients cache of one file: grants beside its handles, and breaks of them under way. No
// threads, no waiting: the open-file table (tree/open_files.h) has one for each file and does both.
// What is granted and what is broken by whom is decided in concurrency/caching.h.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "concurrency/caching.h"
#include "tree/file_key.h"

namespace kyanite::tree {

// A client's name for itself, or for something of its own.
using Name16 = std::array<char, 16>;

// Opens of one client under one key share what they cache.
struct LeaseName {
  Name16 client{};
  Name16 key{};
  auto operator<=>(const LeaseName&) const = default;
};

// A client is to give up something that it caches.
struct CacheBreak {
  HandleId handle = 0;  // One of those that it was granted to.
  std::optional<LeaseName> lease;
  concurrency::Caching from;
  concurrency::Caching to;
  bool acknowledge = false;  // It has to say when it has; otherwise it has lost it already.
  uint16_t epoch = 0;
  size_t reminder = 0;  // How often the client was told before.
};

// Where a client is reached. Called from any thread, with nothing locked; must not wait.
class CacheHolder {
 public:
  virtual ~CacheHolder() = default;
  virtual void caching_breaks(const CacheBreak& broken) = 0;
};

// What an open wants to cache.
struct CachingWanted {
  concurrency::Caching caching;
  std::optional<LeaseName> lease;  // Absent: an oplock.
  uint16_t epoch = 0;              // As the client counts the states of its lease.
  bool counts_epochs = false;      // It does.
  std::shared_ptr<CacheHolder> holder;
};

// What was granted to a handle, as it is now.
struct CachingState {
  concurrency::Caching caching;
  bool is_lease = false;
  bool breaking = false;
  bool counts_epochs = false;  // As the first open under the key said.
  uint16_t epoch = 0;
};

// Why an acknowledgement is not taken.
enum class AcknowledgeError : uint8_t {
  kUnknown,      // Nothing of the kind was granted.
  kNotBreaking,  // Nobody has asked.
  kTooMuch,      // The client keeps more than it may.
};

// Holders that are to be told, once nothing is locked.
class CacheBreaks {
 public:
  void add(std::shared_ptr<CacheHolder> holder, const CacheBreak& broken) {
    told_.push_back({std::move(holder), broken});
  }
  void tell() const {
    for (const auto& each : told_) each.holder->caching_breaks(each.broken);
  }
  bool empty() const { return told_.empty(); }

 private:
  struct Told {
    std::shared_ptr<CacheHolder> holder;
    CacheBreak broken;
  };
  std::vector<Told> told_;
};

// A client that does not answer has lost what it cached after so long.
inline constexpr int64_t kBreakSeconds = 35;
// It is told again after so long: perhaps it did not learn of it.
inline constexpr int64_t kReminderSeconds = 5;

class Grants {
 public:
  // Who does something: the lease is not disturbed by its own opens, an oplock not by its own.
  struct Doer {
    HandleId handle = 0;
    std::optional<LeaseName> lease = {};
  };
  using Rule = std::function<concurrency::Effect(concurrency::GrantKind, concurrency::Caching)>;
  struct Disturbed {
    bool waits = false;            // For an acknowledgement, or the end of what is broken.
    std::vector<HandleId> gone{};  // Handles without a client, who could not be asked: to close.
  };

  bool empty() const { return grants_.empty(); }
  bool breaking() const { return breaking_ != 0; }
  // Whether somebody else has not answered yet.
  bool breaking_beside(const Doer& doer) const;

  // Something that leaves to the holders what `rule` says happens to the file. With `only` to the
  // holder of that handle alone.
  Disturbed disturb(const Doer& doer, const Rule& rule, Moment now, CacheBreaks& breaks,
                    HandleId only = 0);

  // What is beside an open of this doer, as far as it is cached.
  concurrency::Beside beside(const Doer& doer) const;

  // Notes what was granted to a new handle; a lease that is known grows, or stays.
  void grant(HandleId handle, const CachingWanted& wanted, concurrency::Caching granted);

  std::optional<CachingState> of(HandleId handle) const;

  // The client says what it keeps. What was asked for meanwhile is broken next.
  kyanite::Result<void, AcknowledgeError> acknowledge(HandleId handle, concurrency::Caching kept,
                                                      Moment now, CacheBreaks& breaks);
  kyanite::Result<void, AcknowledgeError> acknowledge(const LeaseName& lease,
                                                      concurrency::Caching kept, Moment now,
                                                      CacheBreaks& breaks);
  // Tells those again who were told a while ago and have not answered.
  void remind(Moment now, CacheBreaks& breaks);
  // Those who did not answer in time have lost everything; whether there were any.
  bool expire(Moment now);

  // A handle is closed. The lease whose last handle it was, which is over.
  std::optional<LeaseName> remove(HandleId handle);

  // A handle has lost its client, or has got one again.
  void set_holder(HandleId handle, std::shared_ptr<CacheHolder> holder);

 private:
  struct Member {
    HandleId handle;
    std::shared_ptr<CacheHolder> holder;  // Null: nobody is reached there.
  };
  struct Grant {
    std::optional<LeaseName> lease;
    concurrency::Caching held;
    bool breaking = false;
    concurrency::Caching requested;  // What the client was told to keep,
    concurrency::Caching required;   // and what it may keep by all that happened since.
    Moment until;                    // of the break
    size_t reminders = 0;            // So often was the client told again.
    bool counts_epochs = false;
    uint16_t epoch = 0;
    std::vector<Member> members;

    concurrency::GrantKind kind() const {
      return lease ? concurrency::GrantKind::kLease : concurrency::GrantKind::kOplock;
    }
    bool of(HandleId handle) const;
    bool of(const Doer& doer) const { return doer.lease ? lease == doer.lease : of(doer.handle); }
    // One at which its client is reached; null: none.
    const Member* live() const;
  };

  Grant* find(HandleId handle);
  const Grant* find(HandleId handle) const { return const_cast<Grants*>(this)->find(handle); }
  Grant* find(const LeaseName& lease);
  const Grant* find(const LeaseName& lease) const { return const_cast<Grants*>(this)->find(lease); }
  void begin_break(Grant& grant, concurrency::Caching kept, Moment now, CacheBreaks& breaks);
  void end_break(Grant& grant);
  kyanite::Result<void, AcknowledgeError> acknowledge(Grant* grant, concurrency::Caching kept,
                                                      Moment now, CacheBreaks& breaks);

  std::vector<Grant> grants_;
  size_t breaking_ = 0;  // of them
};

}  // namespace kyanite::tree
