// Any text as an expression over tags: refused, or within its limits and evaluated. Any text as a
// Tags document: refused, or written and read back as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "blob/tag_query.h"
#include "blob/tags.h"

namespace {
using namespace kyanite;

void check_query(std::string_view text, blob::TagQuery::Dialect dialect) {
  const auto query = blob::TagQuery::parse(text, dialect);
  if (!query) return;
  CHECK(!query->alternatives().empty());
  size_t comparisons = 0;
  for (const auto& alternative : query->alternatives()) comparisons += alternative.size();
  CHECK(comparisons > 0 && comparisons <= blob::TagQuery::kMaxComparisons);
  (void)query->matches({{"a", "1"}, {"b c", "x"}}, "container");
}

void check_document(std::string_view xml) {
  const auto tags = blob::parse_tags(xml);
  if (!tags) return;
  CHECK(tags->size() <= blob::kMaxTags);
  wire::XmlWriter writer;
  blob::write_tags(writer, *tags);
  const auto again = blob::parse_tags(writer.take());
  CHECK(again && *again == *tags);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_query(text, blob::TagQuery::Dialect::kCondition);
  check_query(text, blob::TagQuery::Dialect::kFind);
  check_document(text);
  return 0;
}
