// Rows as an Arrow IPC stream (arrow.apache.org): a schema and batches of columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/arrow.h"
#include "sql/rows.h"

namespace kyanite::sql {

class ArrowWriter final : public RowWriter {
 public:
  explicit ArrowWriter(ArrowFormat format);

  // The schema, and a batch without rows as the service sends it.
  std::string begin(const std::vector<std::string>* names) override;
  std::optional<RowError> add(std::span<const Named> row) override;
  size_t bytes() const override { return bytes_; }
  std::string take() override;

 private:
  struct Column {
    std::string valid;  // A bit a row.
    std::string data;
    std::string ends;  // Of texts, 32 bits each; the first is 0.
    int64_t nulls = 0;
  };
  // A value as the bytes of its column.
  static Evaluated<std::string> convert(const Value& value, const ArrowField& field);
  void append(Column& column, const ArrowField& field, const std::string& bytes, bool null);
  void reset();
  std::string batch() const;

  const ArrowFormat format_;
  std::vector<Column> columns_;
  size_t rows_ = 0;
  size_t bytes_ = 0;
};

}  // namespace kyanite::sql
