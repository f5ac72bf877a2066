// Compares the blobs of an account with the index of tags, once: an earlier version lost entries of
// blobs that have their tags. What is missing is written; nothing loses entries any more
// (docs/decisions/tag-index.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/records.h"
#include "store/store.h"

namespace kyanite::blob {

struct TaggedBlob {
  store::SpaceId space = 0;
  std::string name;
  Tags tags;
};

// Writes the entries that these blobs of a container lack.
Task<store::Result<void>> mend_tags(store::Store& store, std::string_view account,
                                    std::string_view container,
                                    const std::vector<TaggedBlob>& blobs);

// Whether all blobs of the account were compared, and the note that they were.
Task<store::Result<bool>> are_tags_mended(store::Store& store, std::string_view account);
Task<store::Result<void>> note_tags_mended(store::Store& store, std::string_view account);

}  // namespace kyanite::blob
