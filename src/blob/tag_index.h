// The index behind Find Blobs by Tags: a space per account with one record per (tag, value,
// container, blob), so that finding ten blobs among a million looks at ten.
//
// A blob and the index lie in different partitions and cannot change in one commit. Entries are
// written, durably, before the commit that gives a blob its tags, and every candidate is checked
// against the blob itself when it is found. So the index may hold entries that are not (or no
// longer) true, but never lacks a true one. Untrue ones are removed in the background
// (blob/untrue_tags.h). Why neither can go wrong: docs/decisions/tag-index.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/place.h"
#include "blob/records.h"
#include "blob/tag_query.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// Whether a head has tags that the one it replaces did not have.
bool gains_tags(const Tags& before, const Tags& after);

// For every commit by which the addressed blob gains tags, and which is guarded by the head that
// has those `before`. Writes the entries, and adds to the commit what makes it fail should they be
// gone by then.
Task<wire::Result<void>> index_tags(service::Call& call, const Place& place, const Tags& before,
                                    const Tags& after, store::Commit& commit);

struct TagMatch {
  std::string container;
  std::string blob;
  Tags tags;
};
struct TagMatches {
  std::vector<TagMatch> matches;
  std::string next;  // Where the next page begins; empty at the end.
};
// At most this many entries are looked at for one page, in turns with other scans: a page may be
// short, or empty, and yet not be the last.
inline constexpr uint64_t kEntriesPerPage = 10'000;

// At most `most` blobs of the account that match, from `start` on. With a container, only its
// blobs.
Task<wire::Result<TagMatches>> find_by_tags(service::Call& call, const TagQuery& query,
                                            std::string_view container, std::string start,
                                            uint64_t most);

}  // namespace kyanite::blob
