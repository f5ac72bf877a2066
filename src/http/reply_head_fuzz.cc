// Whatever another server sends, its head is read within its bytes, and URLs it redirects to read
// as themselves again once they are written.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/reply_head.h"
#include "http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite::http;
  // A copy of its own size, so that reading past the end is noticed.
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto head = parse_reply_head(text)) {
    CHECK(head->status >= 100 && head->status <= 999);
    CHECK(head->framing != Framing::kLength || head->content_length > 0);
    for (const auto& line : head->headers) {
      CHECK(line.name.data() >= text.data());
      CHECK(line.value.data() + line.value.size() <= text.data() + text.size());
    }
  }
  if (const auto url = parse_url(text)) {
    const std::string written =
        (url->secure ? "https://" : "http://") + url->authority() + url->target();
    const auto again = parse_url(written);
    CHECK(again && again->same_origin(*url) && again->target() == url->target());
  }
  return 0;
}
