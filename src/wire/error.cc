#include "wire/error.h"

#include "base/bytes.h"
#include "wire/crc64.h"

namespace kyanite::wire {

namespace {
struct Row {
  std::string_view name;
  int status;
  std::string_view message;
};
constexpr Row kRows[] = {
#define KYANITE_ERROR(code, status, message) {#code, status, message},
#include "wire/errors.def"
#undef KYANITE_ERROR
};
const Row& row(Code code) { return kRows[static_cast<size_t>(code)]; }
}  // namespace

std::string_view name(Code code) { return row(code).name; }
int default_status(Code code) { return row(code).status; }
std::string_view default_message(Code code) { return row(code).message; }

Error::Error(Code error_code)
    : code(error_code), status(default_status(error_code)), message(default_message(error_code)) {}

Error invalid_header(std::string_view header, std::string_view value) {
  return Error(Code::kInvalidHeaderValue).with("HeaderName", header).with("HeaderValue", value);
}

Error missing_header(std::string_view header) {
  return Error(Code::kMissingRequiredHeader).with("HeaderName", header);
}

Error md5_mismatch(std::string_view sent, std::string_view computed) {
  return Error(Code::kMd5Mismatch)
      .with("UserSpecifiedMd5", base64(sent))
      .with("ServerCalculatedMd5", base64(computed));
}

Error crc64_mismatch(uint64_t sent, uint64_t computed) {
  return Error(Code::kCrc64Mismatch)
      .with("UserSpecifiedCrc", crc64_text(sent))
      .with("ServerCalculatedCrc", crc64_text(computed));
}

Error invalid_query(std::string_view parameter, std::string_view value, std::string_view reason) {
  Error error(Code::kInvalidQueryParameterValue);
  error.with("QueryParameterName", parameter).with("QueryParameterValue", value);
  if (!reason.empty()) error.with("Reason", reason);
  return error;
}

Error out_of_range_query(std::string_view parameter, std::string_view value, std::string_view least,
                         std::string_view most) {
  return Error(Code::kOutOfRangeQueryParameterValue)
      .with("QueryParameterName", parameter)
      .with("QueryParameterValue", value)
      .with("MinimumAllowed", least)
      .with("MaximumAllowed", most);
}

}  // namespace kyanite::wire
