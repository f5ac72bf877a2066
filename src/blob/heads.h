// The heads of one blob as stored, and their removal together with what only they name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/place.h"
#include "blob/records.h"
#include "store/store.h"

namespace kyanite::blob {

struct Head {
  std::string row;
  store::RecordPtr record;
  Blob blob;
};

// The key of a head of the blob at this place.
store::Key head_key(const Place& place, std::string_view row = {});
// Heads of a blob whose rows begin so; without directories the blob itself is among all of them.
store::Range former_rows(const Place& place, std::string_view row = {});

// Adds to the commit the removal of heads, and of those of their contents that no other head names;
// guards those that do. That the heads are still there is for the caller to guard.
Task<store::Result<void>> remove_heads(store::Store& store, const Place& place,
                                       const std::vector<Head>& heads, store::Commit& commit);

}  // namespace kyanite::blob
