// Caching by SMB clients: what a client may keep to itself of a file that it has open, what is
// granted beside what others have, and what everybody else's operations take away again. Pure.
//
// A client that caches reading need not ask for bytes again; one that caches writing need not send
// what was written; one that caches its handle need not close it when its program does. SMB calls
// such a grant an oplock, when it belongs to one open, or a lease, when all opens of one client
// under one key share it. The lease of REST (concurrency/lease.h) is something else.
#pragma once

#include <cstdint>

#include "concurrency/bit_set.h"
#include "concurrency/share_mode.h"

namespace kyanite::concurrency {

// A set of read, write and handle caching.
using Caching = BitSet<struct CachingKind, 7>;

// The bits are those of SMB.
inline constexpr Caching kNoCaching;
inline constexpr Caching kReadCaching{1};
inline constexpr Caching kHandleCaching{2};
inline constexpr Caching kWriteCaching{4};
inline constexpr Caching kReadWriteCaching = kReadCaching | kWriteCaching;
inline constexpr Caching kFullCaching{7};

// The oplock levels II, exclusive and batch are R, RW and RWH. There is no oplock of RH.
enum class GrantKind : uint8_t { kOplock, kLease };

// What a holder keeps after something that others do, and whether those wait until the holder has
// said that it keeps no more.
struct Effect {
  Caching kept;
  bool waits = false;
  bool operator==(const Effect&) const = default;
};

// What an open of somebody else is for, as far as it matters to those who cache. An open that
// replaces the content is one for the content.
enum class OpenReach : uint8_t {
  kAttributes,  // Disturbs nobody.
  kSecurity,    // The security descriptor, too: disturbs oplocks alone.
  kContent,
};

// An open that cannot be beside one of the holder's: perhaps the holder's program has closed it
// long ago. Only handle caching is given up, and only if there is any it is worth to look again.
Effect on_sharing_conflict(GrantKind kind, Caching held);

// An open that can be beside the holder's. `replaces`: it puts something else in the place of the
// content.
Effect on_open(GrantKind kind, Caching held, OpenReach reach, bool replaces);

// An operation of REST that can be beside the holder's opens.
Effect on_operation(GrantKind kind, Caching held, FileOperation operation);

// What others do through handles that are open already.
enum class HandleUse : uint8_t {
  kWrite,  // Bytes, the length, what is allocated, locks of ranges: nobody's copy is good any more.
  kMove,   // Renaming, and marking for deletion: nobody may keep a handle that was closed.
};
Effect on_use(GrantKind kind, Caching held, HandleUse use);

// Whether a holder who has to give up something must say when it has. One who only reads from
// memory has nothing to bring back.
constexpr bool must_acknowledge(Caching held) { return held.has(kWriteCaching | kHandleCaching); }

// What is beside an open that wants to cache, not counting opens under the same key.
struct Beside {
  bool opens = false;          // One for the content, or one that caches something.
  bool writing = false;        // One that caches writing, and was not asked to give it up.
  bool oplocks = false;        // that cache something
  bool handle_leases = false;  // that cache handles
  bool range_locks = false;    // of anybody
};
// What can be granted of what is wanted, once others have given up what they had to.
Caching grantable(GrantKind kind, Caching wanted, const Beside& beside);

// What a lease becomes by another open under its key that wants `wanted`, of which `granted` could
// be granted: never less, and only all that is wanted.
constexpr Caching upgraded(Caching held, Caching wanted, Caching granted) {
  return held.within(granted) && granted == wanted ? granted : held;
}

}  // namespace kyanite::concurrency
