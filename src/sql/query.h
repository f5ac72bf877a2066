// A query on its way: bytes of a blob in, frames of the reply out, in bounded steps.
//
//   while (query.needs() != kNothing) {
//     if (query.needs() == kInput) query.add_input(more) or, at the end, query.end_input();
//     query.step();
//     send query.take_output();
//   }
//
// Not for several threads at once, but any may take the next step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sql/avro.h"
#include "sql/evaluate.h"
#include "sql/lexer.h"
#include "sql/rows.h"
#include "sql/statement.h"

namespace kyanite::sql {

class Query {
 public:
  struct Options {
    InputFormat input;
    OutputFormat output;
    uint64_t total_bytes = 0;  // of the input
    Time now;                  // of UTCNOW()
    std::string sync;          // See AvroFrames.
  };
  enum class Needs { kInput, kStep, kNothing };

  // Refuses what is wrong whatever the data are.
  static Result<std::unique_ptr<Query>, SyntaxError> prepare(std::string_view expression,
                                                             Options options);

  Needs needs() const { return needs_; }
  void add_input(std::string_view bytes);
  void end_input();
  void step();
  // What there is to send, "" if nothing. At most a few times kFrameBytes, or a row.
  std::string take_output();
  // Why there will be no result at all: the header of the data does not have what the statement
  // speaks of. Set, if ever, before there is any output.
  const std::optional<SyntaxError>& refusal() const { return refusal_; }
  // Ends it with an error of who runs it.
  void fail(RowError error);

 private:
  Query(Statement statement, Options options);

  std::optional<SyntaxError> bind_columns();
  std::optional<SyntaxError> resolve_header(const std::vector<std::string_view>* header);
  void begin(bool names_known);
  std::string name_of(const Selected& selected) const;
  void next_record();
  void take_record(size_t used);
  void take_header(size_t used);
  void next_row();
  std::optional<RowError> work_on(const Row& row);
  std::optional<RowError> write(const Row& row);
  void count_split(size_t used);
  std::optional<RowError> write_one(std::string_view name, const Value& value);
  void report(RowError error);
  void skip(size_t bytes);
  void flush();
  void finish();

  Statement statement_;
  const Options options_;
  const AvroFrames frames_;
  const bool header_expected_;
  DelimitedReader* delimited_ = nullptr;  // The reader, if it is one of these.
  std::unique_ptr<RecordReader> reader_;
  std::unique_ptr<RowWriter> writer_;
  std::optional<Accumulator> accumulator_;
  std::optional<SyntaxError> refusal_;
  Needs needs_ = Needs::kInput;

  std::string input_;
  size_t at_ = 0;                 // Before it everything is used.
  uint64_t offset_ = 0;           // of at_, in the blob
  size_t wanted_ = kFirstWanted;  // With fewer unused bytes there is no point in looking.
  bool last_ = false;             // No more input will come.
  bool in_record_ = false;
  size_t record_bytes_ = 0;
  size_t row_ = 0;  // Of the record, the next.

  std::vector<std::string> names_;  // of what is selected
  std::vector<Named> values_;
  Scratch scratch_;
  uint64_t work_ = 0;  // of this step
  uint64_t rows_written_ = 0;
  uint64_t split_ = 0;  // Bytes of the part that sys.split is at.
  bool begun_ = false;
  bool data_sent_ = false;
  bool failed_ = false;
  uint64_t scanned_ = 0;
  uint64_t reported_ = 0;  // of scanned_
  struct Reported {
    RowError error;
    uint64_t position;
  };
  std::vector<Reported> errors_;
  std::string output_;
};

}  // namespace kyanite::sql
