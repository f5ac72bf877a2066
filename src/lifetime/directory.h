// An account's directory: the space that holds its containers, queues, tables and shares by name,
// and the properties of its services. Everything else hangs below by incarnation id.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "store/key.h"

namespace kyanite::lifetime {

// Families of the directory.
inline constexpr store::Family kPropertiesFamily = 'P';  // partition: service name
inline constexpr store::Family kContainersFamily = 'C';  // partition: container name
inline constexpr store::Family kDeadContainersFamily =
    'D';  // partition: container name, row: incarnation id
inline constexpr store::Family kDeletedContainersFamily =
    'd';  // partition: container name, row: instant of deletion; can be restored
inline constexpr store::Family kKeptContainersFamily = 'n';  // partition: container name
inline constexpr store::Family kPendingCopiesFamily = 'Y';   // partition: copy id
inline constexpr store::Family kTablesFamily = 'T';          // partition: table name in lower case
inline constexpr store::Family kDeadTablesFamily = 't';      // the same; row: incarnation
inline constexpr store::Family kQueuesFamily = 'Q';          // partition: queue name
inline constexpr store::Family kDeadQueuesFamily = 'q';  // partition: queue name, row: incarnation
inline constexpr store::Family kSharesFamily = 'S';      // partition: share name
inline constexpr store::Family kDeadSharesFamily = 's';  // partition: share name, row: incarnation
inline constexpr store::Family kDeletedSharesFamily =
    'f';  // partition: share name, row: instant of deletion; can be restored
inline constexpr store::Family kKeptSharesFamily = 'N';         // partition: share name
inline constexpr store::Family kPendingFileCopiesFamily = 'y';  // partition: copy id

// Derived from the name, so that it needs no record of its own.
store::SpaceId directory_space(std::string_view account);

// A fresh id for a container, queue, table or share being created.
store::SpaceId new_space();

// A deleted incarnation whose records wait to be removed; see lifetime/dead_spaces.h.
struct DeadSpace {
  store::SpaceId space = 0;
  Time deleted;
  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, deleted);
  }
};

}  // namespace kyanite::lifetime
