// Any bytes as a batch: parsed or refused, and what is parsed lies within the body.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "wire/multipart.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::wire;
  constexpr size_t kMostParts = 8;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  const auto boundary = multipart_boundary(input.substr(0, line));
  const std::string_view body = line == std::string_view::npos ? input : input.substr(line + 1);
  const auto parts = parse_multipart(body, boundary.value_or("b"), kMostParts);
  if (!parts) return 0;
  CHECK(parts->size() <= kMostParts);
  for (const Part& part : *parts) {
    CHECK(part.content.data() >= body.data());
    CHECK(part.content.data() + part.content.size() <= body.data() + body.size());
    const auto request = parse_embedded_request(part.content);
    if (request) CHECK(strip_origin(request->url).size() <= request->url.size() + 1);
  }
  return 0;
}
