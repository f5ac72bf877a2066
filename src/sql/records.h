// Bytes that come in pieces, as records, and records as rows: what the formats that can be queried
// have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/statement.h"
#include "sql/value.h"

namespace kyanite::sql {

// A value of a row and what it is called.
struct Named {
  std::string_view name;  // "" for one that is known by its place only.
  Value value;
};

class Row {
 public:
  virtual ~Row() = default;
  virtual Evaluated<Value> column(const Column& column) const = 0;
  // What "*" stands for.
  virtual void all(std::vector<Named>& out) const = 0;
};

class RecordReader {
 public:
  enum class Reading {
    kRecord,
    kMore,   // The record is not complete.
    kEnd,    // There are no more.
    kError,  // error() says which; there is no way to go on.
  };

  virtual ~RecordReader() = default;
  // Looks at `bytes`, what of the input was not used so far, which begin at `offset` of the input.
  // With `last` no more will come. Sets how many bytes of them the record took, with what lies
  // before it; without a record, just that. The record is valid as long as the bytes are, until the
  // next call.
  virtual Reading next(std::string_view bytes, uint64_t offset, bool last, size_t& used) = 0;
  // The rows of the record: one, unless the statement selects from within it.
  virtual size_t rows() const = 0;
  virtual const Row& row(size_t index) = 0;
  const RowError& error() const { return error_; }
  size_t before() const { return before_; }  // Bytes before the record that are none of it.

 protected:
  size_t before_ = 0;
  RowError error_;
};

}  // namespace kyanite::sql
