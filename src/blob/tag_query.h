// The language of tag expressions: comparisons "name" op 'value' joined by AND and, in conditions,
// OR. AND binds tighter.
//
//   x-ms-if-tags:      = <> > >= < <=   AND OR
//   Find Blobs (where): =  > >= < <=    AND, and @container = 'name'
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "blob/records.h"

namespace kyanite::blob {

class TagQuery {
 public:
  enum class Dialect { kCondition, kFind };
  enum class Operator { kEqual, kNotEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual };
  struct Comparison {
    std::string name;  // "@container" for the container's name
    Operator op = Operator::kEqual;
    std::string value;
  };
  static constexpr size_t kMaxComparisons = 100;

  // What is wrong with a text that is not of the language: near which character (the first is 1),
  // and what was expected there.
  struct Mistake {
    size_t position = 1;
    std::string_view expected;
  };
  static Result<TagQuery, Mistake> parse(std::string_view text, Dialect dialect);

  // A tag that is missing makes every comparison with it false, but for <>.
  bool matches(const Tags& tags, std::string_view container) const;

  // Alternatives (joined by OR), each a list of comparisons that must all hold.
  const std::vector<std::vector<Comparison>>& alternatives() const { return alternatives_; }

 private:
  std::vector<std::vector<Comparison>> alternatives_;
};

}  // namespace kyanite::blob
