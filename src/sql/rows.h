// Rows as the bytes of a result.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sql/arrow.h"
#include "sql/delimited.h"
#include "sql/records.h"

namespace kyanite::sql {

struct JsonFormat {
  std::string record_separator = "\n";
};
using InputFormat = std::variant<DelimitedFormat, JsonFormat>;
using OutputFormat = std::variant<DelimitedFormat, JsonFormat, ArrowFormat>;

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  // What comes before the rows, given what the columns are called, if that is known; "" where
  // nothing does.
  virtual std::string begin(const std::vector<std::string>* names) = 0;
  // The error of a row that cannot be written, of which then nothing is.
  virtual std::optional<RowError> add(std::span<const Named> row) = 0;
  virtual size_t bytes() const = 0;  // Of the rows since the last take().
  virtual std::string take() = 0;
};

std::unique_ptr<RowWriter> make_writer(const OutputFormat& format);

}  // namespace kyanite::sql
