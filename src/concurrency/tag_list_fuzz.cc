// Any header value reads as a wildcard, as at least one tag, or not at all; what this server writes
// reads back.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "concurrency/etag.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::concurrency;
  auto list = parse_tag_list({reinterpret_cast<const char*>(data), size});
  if (!list) return 0;
  CHECK(list->any == list->tags.empty());
  for (const TagList::Tag& tag : list->tags) {
    if (!tag.etag.changed.set()) continue;
    auto again = parse_tag_list(tag.etag.quoted());
    CHECK(again && again->lists_strongly(tag.etag));
  }
  return 0;
}
