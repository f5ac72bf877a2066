// A query over a text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sql/frame_reader.h"
#include "sql/query.h"
#include "sql/timestamp.h"

namespace kyanite::sql {

struct Ran {
  std::string refused;  // Why there is no result.
  std::string data;
  std::vector<std::string> errors;  // "InvalidTypeConversion at 16", "fatal ParseError at 0"
  std::vector<FrameReader::Frame> frames;
  size_t largest_output = 0;
};

struct Formats {
  InputFormat input = DelimitedFormat{};
  OutputFormat output = DelimitedFormat{};
  size_t piece = 1 << 18;  // The input comes in pieces of so many bytes.
};

inline Ran run(std::string_view statement, std::string_view input, const Formats& formats = {}) {
  Ran ran;
  Query::Options options{formats.input, formats.output, input.size(),
                         parse_timestamp("2026-11-16T12:00:00Z")->time, std::string(16, 's')};
  auto prepared = Query::prepare(statement, std::move(options));
  if (!prepared) {
    ran.refused = prepared.error().message;
    return ran;
  }
  auto& query = **prepared;
  std::string output;
  while (query.needs() != Query::Needs::kNothing) {
    if (query.needs() == Query::Needs::kInput) {
      if (input.empty()) {
        query.end_input();
      } else {
        query.add_input(input.substr(0, formats.piece));
        input.remove_prefix(std::min(formats.piece, input.size()));
      }
    }
    if (query.needs() == Query::Needs::kStep) query.step();
    const std::string part = query.take_output();
    ran.largest_output = std::max(ran.largest_output, part.size());
    output += part;
  }
  if (query.refusal()) {
    EXPECT_EQ(output, "");
    ran.refused = query.refusal()->message;
    return ran;
  }
  FrameReader reader(output);
  ran.frames = reader.read();
  EXPECT_FALSE(reader.failed());
  for (const auto& frame : ran.frames) {
    if (frame.kind == FrameReader::Frame::kData) ran.data += frame.data;
    if (frame.kind == FrameReader::Frame::kError) {
      ran.errors.push_back((frame.error.fatal ? "fatal " : "") + frame.error.name + " at " +
                           std::to_string(frame.numbers[0]));
    }
  }
  return ran;
}

}  // namespace kyanite::sql
