// The errors of the protocol as values. wire/errors.def is the one table of codes, statuses and
// messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kyanite::wire {

enum class Code {
#define KYANITE_ERROR(code, status, message) k##code,
#include "wire/errors.def"
#undef KYANITE_ERROR
};

std::string_view name(Code code);
int default_status(Code code);
std::string_view default_message(Code code);

struct Error {
  Code code;
  int status;
  std::string message;
  // Further elements of the error body, e.g. {"HeaderName", "x-ms-range"}.
  std::vector<std::pair<std::string_view, std::string>> details;
  // Headers that go with this error beyond the usual ones, e.g. Content-Range.
  std::vector<std::pair<std::string_view, std::string>> headers;
  // What the service finds before it looks at the version is answered without naming one, and some
  // of it without the code among the headers.
  enum class Names : uint8_t { kVersionAndCode, kCode, kNeither };
  Names names = Names::kVersionAndCode;
  // Another commit came first, so whoever decides has to decide again; clients see it only when
  // that was of no avail too often.
  bool conflict = false;

  Error(Code error_code);  // NOLINT: a code alone is an error with the table's status and message.
  Error(Code error_code, int other_status) : Error(error_code) { status = other_status; }
  Error& with(std::string_view element, std::string_view value) {
    details.emplace_back(element, std::string(value));
    return *this;
  }
  Error& saying(std::string_view text) {
    message = text;
    return *this;
  }
  Error& naming(Names what) {
    names = what;
    return *this;
  }
};

Error invalid_header(std::string_view header, std::string_view value);  // 400 InvalidHeaderValue
Error missing_header(std::string_view header);                          // 400 MissingRequiredHeader
// 400 Md5Mismatch and Crc64Mismatch, with what was sent and what was computed: digests of 16 bytes.
Error md5_mismatch(std::string_view sent, std::string_view computed);
Error crc64_mismatch(uint64_t sent, uint64_t computed);
Error invalid_query(std::string_view parameter, std::string_view value,
                    std::string_view reason = {});
Error out_of_range_query(std::string_view parameter, std::string_view value, std::string_view least,
                         std::string_view most);

template <class T>
using Result = kyanite::Result<T, Error>;

}  // namespace kyanite::wire
