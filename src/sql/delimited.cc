#include "sql/delimited.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "sql/limits.h"

namespace kyanite::sql {

DelimitedReader::DelimitedReader(const DelimitedFormat& format)
    : format_(format), any_line_end_(format.record_separator == "\n") {
  CHECK(!format_.column_separator.empty() && !format_.record_separator.empty());
  stops_[static_cast<uint8_t>(format_.column_separator.front())] = true;
  stops_[static_cast<uint8_t>(format_.record_separator.front())] = true;
  if (format_.escape != '\0') stops_[static_cast<uint8_t>(format_.escape)] = true;
}

DelimitedReader::Match DelimitedReader::match(std::string_view bytes, size_t at,
                                              std::string_view separator) {
  const std::string_view here = bytes.substr(at, separator.size());
  if (here == separator) return Match::kYes;
  return here.size() < separator.size() && separator.starts_with(here) ? Match::kMaybe : Match::kNo;
}

RecordReader::Reading DelimitedReader::fail(std::string_view name, std::string_view description) {
  error_ = {std::string(name), std::string(description), true};
  return Reading::kError;
}

// Up to a separator or the end. With `text` everything is added to it; without it, nothing is an
// escape up to there.
DelimitedReader::Scan DelimitedReader::scan_plain(std::string_view bytes, bool last, size_t& at,
                                                  std::string* text) {
  while (true) {
    const size_t start = at;
    while (at < bytes.size() && !stops_[static_cast<uint8_t>(bytes[at])]) ++at;
    if (text != nullptr) text->append(bytes.substr(start, at - start));
    if (at == bytes.size()) return last ? Scan::kDone : Scan::kMore;
    if (text != nullptr && format_.escape != '\0' && bytes[at] == format_.escape) {
      if (at + 1 == bytes.size() && !last) return Scan::kMore;
      ++at;
      if (at < bytes.size()) *text += bytes[at++];
      continue;
    }
    for (const std::string_view separator :
         {std::string_view(format_.column_separator), std::string_view(format_.record_separator)}) {
      const auto found = match(bytes, at, separator);
      if (found == Match::kYes) return Scan::kDone;
      if (found == Match::kMaybe && !last) return Scan::kMore;
    }
    if (text == nullptr && bytes[at] == format_.escape && format_.escape != '\0')
      return Scan::kDone;
    if (text != nullptr) *text += bytes[at];
    ++at;
  }
}

// Behind the opening quote, up to and with the closing one.
DelimitedReader::Scan DelimitedReader::scan_quoted(std::string_view bytes, bool last, size_t& at,
                                                   std::string& text) {
  while (true) {
    const size_t start = at;
    while (at < bytes.size() && bytes[at] != format_.quote &&
           (format_.escape == '\0' || bytes[at] != format_.escape)) {
      ++at;
    }
    text.append(bytes.substr(start, at - start));
    if (at == bytes.size()) return last ? Scan::kUnclosed : Scan::kMore;
    const bool quote = bytes[at] == format_.quote;
    if (at + 1 == bytes.size()) {
      // What follows decides what this is.
      if (!last) return Scan::kMore;
      ++at;
      return quote ? Scan::kDone : Scan::kUnclosed;
    }
    if (quote && bytes[at + 1] != format_.quote) {
      ++at;
      return Scan::kDone;
    }
    text += bytes[at + 1];
    at += 2;
  }
}

DelimitedReader::Scan DelimitedReader::scan_field(std::string_view bytes, bool last, size_t& at) {
  const size_t start = at;
  last_plain_ = true;
  if (format_.quote != '\0' && at < bytes.size() && bytes[at] == format_.quote) {
    std::string text;
    ++at;
    if (auto scan = scan_quoted(bytes, last, at, text); scan != Scan::kDone) return scan;
    const size_t quoted = text.size();
    if (auto scan = scan_plain(bytes, last, at, &text); scan != Scan::kDone) return scan;
    last_plain_ = text.size() > quoted;
    fields_.push_back(texts_.emplace_back(std::move(text)));
    return Scan::kDone;
  }
  if (auto scan = scan_plain(bytes, last, at, nullptr); scan != Scan::kDone) return scan;
  const bool escapes = at < bytes.size() && format_.escape != '\0' && bytes[at] == format_.escape &&
                       match(bytes, at, format_.column_separator) != Match::kYes &&
                       match(bytes, at, format_.record_separator) != Match::kYes;
  if (!escapes) {
    fields_.push_back(bytes.substr(start, at - start));
    return Scan::kDone;
  }
  std::string text;
  at = start;
  if (auto scan = scan_plain(bytes, last, at, &text); scan != Scan::kDone) return scan;
  fields_.push_back(texts_.emplace_back(std::move(text)));
  return Scan::kDone;
}

void DelimitedReader::drop_carriage_return() {
  auto& field = fields_.back();
  if (any_line_end_ && last_plain_ && field.ends_with('\r')) field.remove_suffix(1);
}

RecordReader::Reading DelimitedReader::next(std::string_view bytes, uint64_t, bool last,
                                            size_t& used) {
  used = 0;
  fields_.clear();
  texts_.clear();
  if (bytes.empty()) return last ? Reading::kEnd : Reading::kMore;
  size_t at = 0;
  while (true) {
    const auto scan = scan_field(bytes, last, at);
    if (scan == Scan::kMore) return Reading::kMore;
    if (scan == Scan::kUnclosed)
      return fail("ParseError", "A quoted field is not closed at the end of the data.");
    if (fields_.size() > kMaxRecordFields)
      return fail("RecordTooLarge", "A record has more fields than a query can hold.");
    if (at == bytes.size()) break;
    if (match(bytes, at, format_.record_separator) == Match::kYes) {
      at += format_.record_separator.size();
      break;
    }
    at += format_.column_separator.size();
  }
  drop_carriage_return();
  used = at;
  return Reading::kRecord;
}

const Row& DelimitedReader::row(size_t) { return row_; }

Evaluated<Value> DelimitedReader::FieldsRow::column(const Column& column) const {
  const auto& fields = reader_.fields_;
  CHECK(column.ordinal);
  if (*column.ordinal < fields.size()) return Value::of(fields[*column.ordinal]);
  std::string text = "Column ordinal ";
  append_uint(text, column.reference);
  return RowError{"InvalidColumnOrdinal", text + " does not exist in row."};
}

void DelimitedReader::FieldsRow::all(std::vector<Named>& out) const {
  const auto& fields = reader_.fields_;
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool named = i < reader_.header_.size();
    out.push_back({named ? std::string_view(reader_.header_[i]) : "", Value::of(fields[i])});
  }
}

void append_field(std::string& out, std::string_view text, const DelimitedFormat& format) {
  const auto has = [&](char c) { return c != '\0' && text.find(c) != std::string_view::npos; };
  // The beginning of a separator may become a whole one with what follows the field.
  const bool special = has(format.quote) || has(format.escape) ||
                       has(format.column_separator.front()) ||
                       has(format.record_separator.front()) ||
                       (format.record_separator == "\n" && text.ends_with('\r'));
  if (!special || (format.quote == '\0' && format.escape == '\0')) {
    out += text;
    return;
  }
  if (format.quote != '\0') out += format.quote;
  for (const char c : text) {
    const bool quote = c == format.quote && format.quote != '\0';
    if (format.quote == '\0') {
      // Without quotes whatever could end the field needs an escape.
      if (c == format.escape || c == format.column_separator.front() ||
          c == format.record_separator.front()) {
        out += format.escape;
      }
    } else if (quote || (c == format.escape && format.escape != '\0')) {
      out += format.escape != '\0' ? format.escape : format.quote;
    }
    out += c;
  }
  if (format.quote != '\0') out += format.quote;
}

}  // namespace kyanite::sql
