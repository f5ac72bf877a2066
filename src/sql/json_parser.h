// One JSON value out of bytes that may not be all there yet.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sql/json.h"

namespace kyanite::sql {

// "Unexpected token 'x' at [byte: 3]. Expecting token '{'. ", or the like for the end of the bytes.
RowError unexpected_token(std::string_view bytes, size_t at, uint64_t offset,
                          std::initializer_list<std::string_view> expected);

class JsonParser {
 public:
  enum class Parsed { kValue, kMore, kError };

  // Of `bytes`, which begin at `offset` of the input, from `at` on.
  JsonParser(std::string_view bytes, size_t at, uint64_t offset, bool last,
             std::vector<JsonValue>& values, std::deque<std::string>& texts)
      : bytes_(bytes), at_(at), offset_(offset), last_(last), values_(values), texts_(texts) {}

  Parsed parse() { return value({}, 0); }
  size_t at() const { return at_; }  // Behind the value.
  const RowError& error() const { return error_; }

 private:
  Parsed value(std::string_view key, size_t depth);
  Parsed object(size_t depth);
  Parsed array(size_t depth);
  Parsed member(size_t depth);
  // At the opening quote.
  Parsed string(std::string_view& text);
  Parsed escape(std::string& text);
  Parsed unicode(std::string& text);
  Parsed number(JsonValue& value);
  Parsed word(std::string_view word);
  // Moves to what is no blank.
  Parsed skip_blanks();
  Parsed cut_short();
  Parsed fail(std::initializer_list<std::string_view> expected);
  Parsed fail(std::string_view name, std::string_view description);
  bool take_hex(uint32_t& unit);

  const std::string_view bytes_;
  size_t at_;
  const uint64_t offset_;
  const bool last_;
  std::vector<JsonValue>& values_;
  std::deque<std::string>& texts_;
  RowError error_;
};

}  // namespace kyanite::sql
