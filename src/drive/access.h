// Access masks: what a client asks for, what it is granted, and what share modes make of it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/task.h"
#include "concurrency/share_mode.h"
#include "smb/numbers.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/opened.h"
#include "tree/tree.h"

namespace kyanite::drive {

// What the client may do at most with an entry of a directory: what the security descriptors of
// both let it. Who may delete what is in the directory may delete the entry, who may list the
// directory may see its attributes.
Task<tree::Result<uint32_t>> maximal_access(store::Occasion& occasion, const tree::Tree& tree,
                                            const tree::Entry& entry, const tree::Entry& parent);

// The same with something new in a directory. Whoever may make it may do everything with it through
// the handle that it is made by, whatever it inherits; nothing otherwise.
Task<tree::Result<uint32_t>> access_to_new(store::Occasion& occasion, const tree::Tree& tree,
                                           bool directory, const tree::Entry& parent);

// Whether what is open may be moved there: that is to make it there, and to delete what it
// replaces. Of ways that lead nowhere tells who moves it.
Task<tree::Result<bool>> may_move_to(store::Occasion& occasion, const tree::Opened& moved,
                                     const tree::Path& to, bool replaces);

// Whether it asks for anything, and for nothing that has no meaning.
bool is_access(uint32_t asked);
// What is granted of what was asked for: ACCESS_DENIED unless it is all. Files that are read-only
// are not written to by anybody.
Result<uint32_t, smb::Status> grant_access(uint32_t asked, uint32_t most, bool read_only);

// What is left of the most there is for what is not written to: read-only files, and all that a
// snapshot shows, in which nothing is deleted either.
uint32_t most_of_read_only(uint32_t most);
uint32_t most_of_shown(uint32_t most);

// As share modes see it.
concurrency::AccessSet access_set(uint32_t access);
concurrency::AccessSet share_set(uint32_t share_access);

}  // namespace kyanite::drive
