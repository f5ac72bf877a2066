#include "sql/query.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "sql/json.h"
#include "sql/limits.h"
#include "sql/parser.h"

namespace kyanite::sql {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
static_assert(kByteOrderMark.size() == kFirstWanted);

// _1 is the first.
std::optional<size_t> position_of(const Name& name) {
  if (name.exact || !name.text.starts_with('_')) return {};
  const auto number = parse_uint(std::string_view(name.text).substr(1));
  if (!number || *number == 0) return {};
  return static_cast<size_t>(*number - 1);
}

RowError record_too_large() {
  return {"RecordTooLarge", "A record is longer than a query can hold.", true};
}

}  // namespace

Result<std::unique_ptr<Query>, SyntaxError> Query::prepare(std::string_view expression,
                                                           Options options) {
  auto statement = parse(expression);
  if (!statement) return statement.error();
  std::unique_ptr<Query> query(new Query(std::move(*statement), std::move(options)));
  if (auto refused = query->bind_columns()) return std::move(*refused);
  return query;
}

Query::Query(Statement statement, Options options)
    : statement_(std::move(statement)),
      options_(std::move(options)),
      frames_(options_.sync),
      header_expected_(std::holds_alternative<DelimitedFormat>(options_.input) &&
                       std::get<DelimitedFormat>(options_.input).headers),
      writer_(make_writer(options_.output)) {
  if (const auto* format = std::get_if<DelimitedFormat>(&options_.input)) {
    auto reader = std::make_unique<DelimitedReader>(*format);
    delimited_ = reader.get();
    reader_ = std::move(reader);
  } else {
    reader_ = std::make_unique<JsonReader>(statement_.from,
                                           std::get<JsonFormat>(options_.input).record_separator);
  }
  if (statement_.aggregate != Aggregate::kNone) accumulator_.emplace(statement_.aggregate);
}

std::optional<SyntaxError> Query::bind_columns() {
  if (delimited_ == nullptr) {
    if (statement_.split_bytes != 0) return SyntaxError{"sys.split is for CSV data only."};
    return {};
  }
  if (!statement_.from.empty()) return SyntaxError{"A path behind BlobStorage is for JSON only."};
  std::optional<SyntaxError> refused;
  for_each_column(statement_, [&](Column& column) {
    if (column.path.size() != 1) {
      refused = SyntaxError{"Paths within a column are for JSON only."};
      return;
    }
    column.ordinal = position_of(column.path.front().name);
    if (!column.ordinal && !header_expected_) {
      refused = SyntaxError{
          "Column names can be used only if 'hasHeader' is set in the config and there is a header "
          "row."};
    }
  });
  return refused;
}

std::optional<SyntaxError> Query::resolve_header(const std::vector<std::string_view>* header) {
  std::optional<SyntaxError> refused;
  for_each_column(statement_, [&](Column& column) {
    if (column.ordinal) return;
    if (header == nullptr) {
      refused = SyntaxError{
          "Column names can be used only if 'hasHeader' is set in the config and there is a header "
          "row."};
      return;
    }
    const Name& name = column.path.front().name;
    const auto found = std::find_if(header->begin(), header->end(),
                                    [&](std::string_view field) { return name.matches(field); });
    if (found == header->end()) {
      refused = SyntaxError{"The header row has no column '" + name.text + "'."};
      return;
    }
    column.ordinal = static_cast<size_t>(found - header->begin());
  });
  return refused;
}

std::string Query::name_of(const Selected& selected) const {
  if (!selected.alias.empty()) return selected.alias;
  if (selected.expression.op != Op::kColumn || accumulator_) return "";
  const auto& column = selected.expression.column;
  if (delimited_ != nullptr && column.ordinal) {
    const auto& header = delimited_->header();
    return *column.ordinal < header.size() ? header[*column.ordinal] : "";
  }
  const auto& last = column.path.back();
  return last.kind == PathStep::Kind::kMember ? last.name.text : "";
}

// Everything that does not depend on the rows.
void Query::begin(bool names_known) {
  begun_ = true;
  frames_.begin(output_);
  std::vector<std::string> shown;
  for (const auto& selected : statement_.selected) {
    names_.push_back(name_of(selected));
    shown.push_back(names_.back().empty() ? "_" + std::to_string(names_.size()) : names_.back());
  }
  if (statement_.all && delimited_ != nullptr) shown = delimited_->header();
  const bool known = names_known || !statement_.all;
  const std::string before =
      writer_->begin(known && statement_.split_bytes == 0 ? &shown : nullptr);
  if (!before.empty()) frames_.data(output_, before);
  // A header line is a result; a schema is none.
  data_sent_ = !before.empty() && !std::holds_alternative<ArrowFormat>(options_.output);
  if (statement_.limit == 0) finish();
}

void Query::add_input(std::string_view bytes) {
  CHECK(needs_ == Needs::kInput);
  input_.erase(0, std::exchange(at_, 0));
  input_ += bytes;
  scanned_ += bytes.size();
  if (input_.size() - at_ >= wanted_) needs_ = Needs::kStep;
}

void Query::end_input() {
  CHECK(needs_ == Needs::kInput);
  last_ = true;
  needs_ = Needs::kStep;
}

std::string Query::take_output() { return std::exchange(output_, {}); }

void Query::skip(size_t bytes) {
  at_ += bytes;
  offset_ += bytes;
}

void Query::step() {
  CHECK(needs_ == Needs::kStep);
  work_ = 0;
  if (!begun_ && !header_expected_) begin(delimited_ == nullptr);
  while (needs_ == Needs::kStep && work_ < kStepWork && output_.size() < kFrameBytes) {
    if (in_record_) {
      next_row();
    } else {
      next_record();
    }
    if (writer_->bytes() >= kFrameBytes || errors_.size() >= kMaxErrorsHeld) flush();
  }
  if (needs_ == Needs::kInput && scanned_ - reported_ >= kProgressBytes && begun_) {
    flush();
    frames_.progress(output_, scanned_, options_.total_bytes);
    reported_ = scanned_;
  }
}

void Query::next_record() {
  if (offset_ == 0 && std::string_view(input_).substr(at_).starts_with(kByteOrderMark))
    skip(kByteOrderMark.size());
  const std::string_view unused = std::string_view(input_).substr(at_);
  size_t used = 0;
  const auto found = reader_->next(unused, offset_, last_, used);
  switch (found) {
    case RecordReader::Reading::kRecord:
      if (used > kMaxRecordBytes) return fail(record_too_large());
      wanted_ = 1;
      work_ += used;
      skip(reader_->before());
      return take_record(used - reader_->before());
    case RecordReader::Reading::kMore:
      work_ += unused.size();
      skip(used);
      if (unused.size() - used > kMaxRecordBytes) return fail(record_too_large());
      // A record that is not all there is looked at again when there is twice as much of it: so a
      // long one costs no more than twice its length.
      wanted_ = std::min(2 * (unused.size() - used), kMaxRecordBytes) + 1;
      needs_ = Needs::kInput;
      return;
    case RecordReader::Reading::kEnd:
      if (!begun_) take_header(0);
      if (!refusal_) finish();
      return;
    case RecordReader::Reading::kError:
      skip(used);
      return fail(reader_->error());
  }
}

void Query::take_record(size_t used) {
  if (!begun_) return take_header(used);
  if (statement_.split_bytes != 0) {
    count_split(used);
    return skip(used);
  }
  record_bytes_ = used;
  row_ = 0;
  in_record_ = reader_->rows() > 0;
  if (!in_record_) skip(used);
}

// The first record of data that have a header; 0 bytes where there is none.
void Query::take_header(size_t used) {
  const auto& fields = delimited_->fields();
  refusal_ = resolve_header(used > 0 ? &fields : nullptr);
  if (refusal_) {
    needs_ = Needs::kNothing;
    return;
  }
  delimited_->set_header({fields.begin(), fields.end()});
  split_ += used;
  begin(true);
  skip(used);
}

void Query::count_split(size_t used) {
  split_ += used;
  if (split_ < statement_.split_bytes) return;
  if (auto error = write_one("", Value::of(static_cast<int64_t>(std::exchange(split_, 0)))))
    report(std::move(*error));
}

void Query::next_row() {
  scratch_.clear();
  auto error = work_on(reader_->row(row_));
  work_ += 1 + scratch_.spent() + statement_.selected.size();
  if (error) report(std::move(*error));
  if (needs_ == Needs::kNothing) return;
  if (++row_ < reader_->rows()) return;
  in_record_ = false;
  skip(record_bytes_);
}

std::optional<RowError> Query::work_on(const Row& row) {
  if (statement_.where) {
    const auto passes = is_true(*statement_.where, row, scratch_, options_.now);
    if (!passes) return passes.error();
    if (!*passes) return {};
  }
  if (accumulator_) {
    auto value = evaluate(statement_.selected.front().expression, row, scratch_, options_.now);
    if (!value) return value.error();
    return accumulator_->add(*value);
  }
  return write(row);
}

std::optional<RowError> Query::write(const Row& row) {
  values_.clear();
  if (statement_.all) row.all(values_);
  for (size_t i = 0; i < statement_.selected.size(); ++i) {
    auto value = evaluate(statement_.selected[i].expression, row, scratch_, options_.now);
    if (!value) return value.error();
    values_.push_back({names_[i], *value});
  }
  if (auto error = writer_->add(values_)) return error;
  ++rows_written_;
  if (statement_.limit && rows_written_ >= *statement_.limit) finish();
  return {};
}

std::optional<RowError> Query::write_one(std::string_view name, const Value& value) {
  const Named row[] = {{name, value}};
  return writer_->add(row);
}

void Query::report(RowError error) {
  if (error.fatal) return fail(std::move(error));
  errors_.push_back({std::move(error), offset_});
}

void Query::fail(RowError error) {
  if (needs_ == Needs::kNothing) return;
  if (!begun_) begin(false);
  failed_ = true;
  error.fatal = true;
  errors_.push_back({std::move(error), offset_});
  finish();
}

// Rows, and then the errors of those that are not among them.
void Query::flush() {
  const std::string rows = writer_->take();
  if (!rows.empty()) {
    frames_.data(output_, rows);
    data_sent_ = true;
  }
  for (const auto& error : errors_) frames_.error(output_, error.error, error.position);
  errors_.clear();
}

void Query::finish() {
  needs_ = Needs::kNothing;
  if (!failed_ && accumulator_ && statement_.limit != 0) {
    const std::string& name = names_.front();
    if (auto error = write_one(name, accumulator_->result()))
      errors_.push_back({std::move(*error), offset_});
  }
  if (!failed_ && split_ > 0 && statement_.split_bytes != 0) {
    if (auto error = write_one("", Value::of(static_cast<int64_t>(split_))))
      errors_.push_back({std::move(*error), offset_});
  }
  // Even an empty result is one.
  if (writer_->bytes() == 0 && !data_sent_) frames_.data(output_, "");
  flush();
  frames_.progress(output_, scanned_, options_.total_bytes);
  frames_.end(output_, options_.total_bytes);
}

}  // namespace kyanite::sql
