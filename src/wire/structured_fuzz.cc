// A message is taken apart alike however it is cut, and what is written is read back.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "wire/structured.h"

namespace {
using namespace kyanite;

// The content, or nothing when the message is refused.
std::optional<std::string> parse(std::string message, size_t cut) {
  wire::StructuredParser parser;
  std::string content;
  for (size_t at = 0; at < message.size(); at += cut) {
    const size_t count = std::min(cut, message.size() - at);
    const auto kept = parser.feed(message.data() + at, count);
    if (!kept) return {};
    CHECK(*kept <= count);
    content.append(message, at, *kept);
  }
  if (!parser.finish()) return {};
  return content;
}

std::string write(const std::string& content) {
  wire::StructuredWriter writer(content.size());
  std::string message = writer.before_content();
  writer.add(content);
  message += content;
  message += writer.after_content();
  CHECK(message.size() == writer.message_length());
  return message;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = parse(bytes, std::max<size_t>(size, 1));
  for (const size_t cut : std::initializer_list<size_t>{1, 7, 13})
    CHECK(parse(bytes, cut) == whole);
  CHECK(parse(write(bytes), 11) == bytes);
  return 0;
}
