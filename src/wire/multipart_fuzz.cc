// Any bytes as a batch: parsed or refused, and what is parsed lies within the body. A part that is
// multipart itself, as the change set of a table's transaction is, is parsed as well.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "wire/multipart.h"

namespace {
using namespace kyanite::wire;

constexpr size_t kMostParts = 8;

void check_parts(std::string_view body, std::string_view boundary, bool nested) {
  const auto parts = parse_multipart(body, boundary, kMostParts);
  if (!parts) return;
  CHECK(parts->size() <= kMostParts);
  for (const Part& part : *parts) {
    CHECK(part.content.data() >= body.data());
    CHECK(part.content.data() + part.content.size() <= body.data() + body.size());
    const auto inner = multipart_boundary(part.headers.get("Content-Type"));
    if (inner && !nested) check_parts(part.content, *inner, true);
    const auto request = parse_embedded_request(part.content);
    if (request) CHECK(strip_origin(request->url).size() <= request->url.size() + 1);
  }
}
}  // namespace

// The first line is the Content-Type.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  const auto boundary = multipart_boundary(input.substr(0, line));
  const std::string_view body = line == std::string_view::npos ? input : input.substr(line + 1);
  check_parts(body, boundary.value_or("b"), false);
  return 0;
}
