// JSON as records: objects one after the other, or the elements of one array, with any blanks or
// separators between them.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sql/records.h"

namespace kyanite::sql {

// Values lie in the order of the text: the first child of one follows it, and the next sibling
// follows all that is within.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  uint32_t span = 1;      // Values within, and itself.
  std::string_view key;   // of a member of an object
  std::string_view text;  // of a string, without escapes; of a number, as it was written

  const JsonValue* begin() const { return this + 1; }
  const JsonValue* end() const { return this + span; }
  const JsonValue* after() const { return this + span; }
};

// Without blanks.
void append_json(std::string& out, const JsonValue& value);

// The value as one of the language; objects and arrays as they are.
Value to_value(const JsonValue& json);

class JsonReader final : public RecordReader {
 public:
  // `from`: which of the values within a record are its rows. `separator` may stand between
  // records.
  JsonReader(std::vector<PathStep> from, std::string separator);
  ~JsonReader() override;

  Reading next(std::string_view bytes, uint64_t offset, bool last, size_t& used) override;
  size_t rows() const override { return rows_.size(); }
  const Row& row(size_t index) override;

 private:
  class JsonRow final : public Row {
   public:
    Evaluated<Value> column(const Column& column) const override;
    void all(std::vector<Named>& out) const override;
    const JsonValue* value = nullptr;
  };
  // Moves past what may stand before a record.
  size_t skip_between(std::string_view bytes);
  Reading found_scalar(std::string_view bytes, size_t at, uint64_t offset, bool last);

  const std::vector<PathStep> from_;
  const std::string separator_;
  bool in_array_ = false;  // Records are elements of the array that the input is.
  bool needs_comma_ = false;
  std::vector<JsonValue> values_;
  std::deque<std::string> texts_;  // Strings that had escapes.
  std::vector<const JsonValue*> rows_;
  JsonRow row_;
};

}  // namespace kyanite::sql
