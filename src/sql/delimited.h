// CSV and its relatives: records of fields with separators, quotes and escapes of the caller's
// choice.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sql/records.h"

namespace kyanite::sql {

struct DelimitedFormat {
  std::string column_separator = ",";
  std::string record_separator = "\n";
  char quote = '"';    // 0: none
  char escape = '\0';  // 0: none
  bool headers = false;
};

class DelimitedReader final : public RecordReader {
 public:
  explicit DelimitedReader(const DelimitedFormat& format);

  Reading next(std::string_view bytes, uint64_t offset, bool last, size_t& used) override;
  size_t rows() const override { return 1; }
  const Row& row(size_t index) override;

  const std::vector<std::string_view>& fields() const { return fields_; }
  // What the fields of the records that follow are called.
  void set_header(std::vector<std::string> names) { header_ = std::move(names); }
  const std::vector<std::string>& header() const { return header_; }

 private:
  enum class Scan { kDone, kMore, kUnclosed };
  enum class Match { kNo, kYes, kMaybe };  // kMaybe: what is here may be its beginning.
  class FieldsRow final : public Row {
   public:
    explicit FieldsRow(const DelimitedReader& reader) : reader_(reader) {}
    Evaluated<Value> column(const Column& column) const override;
    void all(std::vector<Named>& out) const override;

   private:
    const DelimitedReader& reader_;
  };

  Scan scan_field(std::string_view bytes, bool last, size_t& at);
  Scan scan_quoted(std::string_view bytes, bool last, size_t& at, std::string& text);
  Scan scan_plain(std::string_view bytes, bool last, size_t& at, std::string* text);
  static Match match(std::string_view bytes, size_t at, std::string_view separator);
  void drop_carriage_return();
  Reading fail(std::string_view name, std::string_view description);

  const DelimitedFormat format_;
  const bool any_line_end_;  // A line feed ends records: so does one behind a carriage return.
  std::array<bool, 256> stops_{};  // Characters that an unquoted field cannot just go on with.
  std::vector<std::string_view> fields_;
  bool last_plain_ = false;        // The last field ended outside of quotes.
  std::deque<std::string> texts_;  // Fields that are not in the bytes as they are.
  std::vector<std::string> header_;
  FieldsRow row_{*this};
};

// Appends a field, quoted or escaped as far as it has to be.
void append_field(std::string& out, std::string_view text, const DelimitedFormat& format);

}  // namespace kyanite::sql
