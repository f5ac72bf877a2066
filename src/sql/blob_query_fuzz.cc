// Any statement over any data: refused, or a well-formed reply that ends, which is the same however
// the data are cut.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sql/frame_reader.h"
#include "sql/query.h"

namespace {
using namespace kyanite;
using Frame = sql::FrameReader::Frame;

struct Outcome {
  bool refused = false;
  std::string data;
  std::string errors;
  bool operator==(const Outcome&) const = default;
};

sql::Query::Options options(uint8_t form, size_t total) {
  sql::Query::Options options;
  if (form & 1) {
    options.input = sql::JsonFormat{form & 2 ? ";" : "\n"};
  } else {
    options.input = sql::DelimitedFormat{.column_separator = form & 4 ? "||" : ",",
                                         .escape = form & 8 ? '\\' : '\0',
                                         .headers = (form & 2) != 0};
  }
  if ((form & 0x30) == 0x10) options.output = sql::JsonFormat{};
  if ((form & 0x30) == 0x20) {
    options.output = sql::ArrowFormat{{{sql::ArrowType::kString, "s", 0, 0},
                                       {sql::ArrowType::kDecimal, "d", 10, 3},
                                       {sql::ArrowType::kTimestampMs, "t", 0, 0}}};
  }
  options.total_bytes = total;
  options.now = Time{kUnixEpochTicks};
  options.sync = std::string(sql::kAvroSyncBytes, 's');
  return options;
}

Outcome run(std::string_view statement, std::string_view data, uint8_t form, size_t piece) {
  Outcome outcome;
  auto prepared = sql::Query::prepare(statement, options(form, data.size()));
  if (!prepared) {
    outcome.refused = true;
    return outcome;
  }
  auto& query = **prepared;
  std::string output;
  size_t at = 0;
  while (query.needs() != sql::Query::Needs::kNothing) {
    if (query.needs() == sql::Query::Needs::kInput) {
      if (at == data.size()) {
        query.end_input();
      } else {
        query.add_input(data.substr(at, piece));
        at = std::min(at + piece, data.size());
      }
    }
    if (query.needs() == sql::Query::Needs::kStep) query.step();
    output += query.take_output();
  }
  if (query.refusal()) {
    CHECK(output.empty());
    outcome.refused = true;
    return outcome;
  }
  sql::FrameReader reader(output);
  const auto frames = reader.read();
  CHECK(!reader.failed() && !frames.empty() && frames.back().kind == Frame::kEnd);
  for (const auto& frame : frames) {
    outcome.data += frame.data;
    if (frame.kind == Frame::kError)
      outcome.errors += frame.error.name + std::to_string(frame.numbers[0]) + ";";
  }
  return outcome;
}
}  // namespace

// The forms, how the data are cut, the statement, a zero, the data.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  const size_t end = text.find('\0');
  if (end == std::string_view::npos) return 0;
  const std::string_view statement = text.substr(0, end);
  const std::string_view blob = text.substr(end + 1);
  const auto whole = run(statement, blob, data[0], blob.size() + 1);
  CHECK(run(statement, blob, data[0], 1 + data[1] % 16) == whole);
  return 0;
}
