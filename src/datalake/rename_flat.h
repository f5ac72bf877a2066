// Renaming where there are no directories.
#pragma once

#include "datalake/flat_move.h"
#include "datalake/handlers.h"
#include "datalake/rename_order.h"

namespace kyanite::datalake {

// A file moves as one step, within its container; it keeps its ETag, as it does where there are
// directories. A directory moves in portions, its own blob last. One request does as much as it
// should and says how to go on with the rest; whoever does not go on and asks again, goes on as
// well.
Outcome rename_flat(FlatEnd from, FlatEnd to, const RenameOrder& order);

}  // namespace kyanite::datalake
