// The index behind Find Blobs by Tags: a space per account with one record per (tag, value,
// container, blob), so that finding ten blobs among a million looks at ten.
//
// A blob and the index lie in different partitions and cannot change in one commit. Entries are
// written, durably, before the commit that gives a blob its tags, and every candidate is checked
// against the blob itself when it is found. So the index may hold entries that are not (or no
// longer) true, but never lacks a true one; untrue ones are removed when met.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/records.h"
#include "blob/tag_query.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// To be called before the commit that sets these tags on the addressed blob.
Task<wire::Result<void>> index_tags(service::Call& call, const Tags& tags);

struct TagMatch {
  std::string container;
  std::string blob;
  Tags tags;
};
struct TagMatches {
  std::vector<TagMatch> matches;
  std::string next;  // Where the next page begins; empty at the end.
};
// At most `most` blobs of the account that match, from `start` on. With a container, only its
// blobs.
Task<wire::Result<TagMatches>> find_by_tags(service::Call& call, const TagQuery& query,
                                            std::string_view container, std::string start,
                                            uint64_t most);

}  // namespace kyanite::blob
