// Fields written with any separators, quote and escape are read back as the same, however the bytes
// are cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sql/delimited.h"

namespace {
using namespace kyanite;

using Fields = std::vector<std::string>;

Fields read(const sql::DelimitedFormat& format, std::string_view bytes, size_t piece) {
  sql::DelimitedReader reader(format);
  for (size_t length = std::min(piece, bytes.size());;
       length = std::min(length + piece, bytes.size())) {
    size_t used = 0;
    const bool last = length == bytes.size();
    const auto found = reader.next(bytes.substr(0, length), 0, last, used);
    CHECK(used <= length);
    if (found == sql::RecordReader::Reading::kRecord) {
      CHECK(used == bytes.size());
      return {reader.fields().begin(), reader.fields().end()};
    }
    CHECK(found == sql::RecordReader::Reading::kMore && !last);
  }
}
}  // namespace

// Four characters of format, and fields with zeros between them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  sql::DelimitedFormat format;
  format.column_separator = text.substr(0, 1 + data[4] % 2);
  format.record_separator = text.substr(1, 1);
  format.quote = text[2];
  format.escape = text[3];
  const char first = format.column_separator.front();
  const char last = format.record_separator.front();
  // What a request may ask for (query_request.cc), with a quote that everything can be within.
  if (first == last || format.quote == '\0' || first == format.quote || last == format.quote ||
      first == format.escape || last == format.escape || first == '\0' || last == '\0') {
    return 0;
  }
  if (format.column_separator.find(format.quote) != std::string::npos) return 0;
  Fields fields(1);
  for (const char c : text.substr(5)) {
    if (c == '\0') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  std::string bytes;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) bytes += format.column_separator;
    sql::append_field(bytes, fields[i], format);
  }
  bytes += format.record_separator;
  CHECK(read(format, bytes, bytes.size()) == fields);
  CHECK(read(format, bytes, 1 + data[4] / 2 % 8) == fields);
  return 0;
}
