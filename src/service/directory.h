// An account's directory: the space that holds its containers, queues, tables and shares by name,
// and the properties of its services. Everything else hangs below by incarnation id.
#pragma once

#include <string_view>

#include "store/key.h"

namespace kyanite::service {

// Families of the directory.
inline constexpr store::Family kPropertiesFamily = 'P';  // partition: service name
inline constexpr store::Family kContainersFamily = 'C';  // partition: container name
inline constexpr store::Family kDeadContainersFamily =
    'D';  // partition: container name, row: incarnation id

// Derived from the name, so that it needs no record of its own.
store::SpaceId directory_space(std::string_view account);

// A fresh id for a container, queue, table or share being created.
store::SpaceId new_space();

}  // namespace kyanite::service
