// ETags. An object's ETag is the instant of its last change, written as the hexadecimal count of
// ticks; its Last-Modified is the same instant cut to whole seconds. One stored Time serves for
// both, so that they can never disagree.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/short_text.h"

namespace kyanite::concurrency {

using ETagText = ShortText<20>;

struct ETag {
  Time changed;  // Unset: a tag that no object has.

  bool operator==(const ETag&) const = default;
  // "0x8DA7CBC1D6451F1", with the double quotes: the response header.
  ETagText quoted() const;
  // 0x8DA7CBC1D6451F1: listings, and the header in versions before 2011-08-18.
  ETagText unquoted() const;
};

// The instant to store for a change made now to an object last changed at `previous` (unset: a new
// object). Strictly later than `previous` even when the clock stands still or has been set back, so
// no two states of an object share an ETag.
Time next_modified(Time now, Time previous);

// The value of an If-Match or If-None-Match header.
struct TagList {
  struct Tag {
    ETag etag;  // Unset for a well-formed tag this server never writes: no object has it.
    bool weak = false;

    bool operator==(const Tag&) const = default;
  };

  bool any = false;       // "*"; then `tags` is empty.
  std::vector<Tag> tags;  // At least one unless `any`.

  // If-Match compares strongly and If-None-Match weakly (RFC 9110): only the latter looks past a W/
  // prefix. Neither looks at `any`, which asks about existence and not about a tag.
  bool lists_strongly(ETag etag) const;
  bool lists_weakly(ETag etag) const;
};

// `*`, or tags separated by commas, each quoted or (as old clients send them) bare, each perhaps
// with W/. Anything else, the empty text included, is malformed.
std::optional<TagList> parse_tag_list(std::string_view text);

}  // namespace kyanite::concurrency
