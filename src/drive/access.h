// Access masks: what a client asks for, what it is granted, and what share modes make of it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "concurrency/share_mode.h"
#include "smb/numbers.h"
#include "tree/records.h"

namespace kyanite::drive {

// GENERIC_READ and its like replaced by what they stand for.
uint32_t without_generic(uint32_t access);

// What an account may do with an entry at most. Whoever logs on with the key of an account may do
// everything; what is read-only is not written to by anybody.
uint32_t maximal_access(const tree::Entry* entry);

// What is granted of what was asked for: ACCESS_DENIED unless it is all.
Result<uint32_t, smb::Status> grant_access(uint32_t asked, const tree::Entry* entry);

// As share modes see it.
concurrency::AccessSet access_set(uint32_t access);
concurrency::AccessSet share_set(uint32_t share_access);

}  // namespace kyanite::drive
