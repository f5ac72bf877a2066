// JSON out, by hand, as the Table service writes it: no blanks, UTF-8 as it is. Input is parsed
// with simdjson where needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::wire {

// Appends one document to a string. Commas come by themselves; whoever opens also closes.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  // The name of the next member; its value must follow.
  JsonWriter& key(std::string_view name);
  // The name in two pieces ("Age" and "@odata.type"), without joining them first.
  JsonWriter& key(std::string_view name, std::string_view suffix);

  JsonWriter& string(std::string_view text);
  JsonWriter& integer(int64_t value);
  // The shortest digits that read back as the same number, always with a point or an exponent.
  // What JSON cannot write (NaN, infinities) becomes a string, as OData has it.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // key() and string() in one.
  JsonWriter& member(std::string_view name, std::string_view text);

 private:
  void begin_value();

  std::string& out_;
  bool needs_comma_ = false;
};

// Appends the text with quotes, backslashes and control characters escaped, without the outer
// quotes.
void append_json_text(std::string& out, std::string_view text);

}  // namespace kyanite::wire
