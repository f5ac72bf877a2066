// What a record must look like, by whose it is and by its family.
#pragma once

#include "store/key.h"
#include "store/store.h"
#include "upkeep/spaces.h"

namespace kyanite::upkeep {

// False when the record cannot be what it should.
bool is_readable(Kind kind, const store::Key& key, const store::Record& record);

}  // namespace kyanite::upkeep
