// Bytes -> a request with headers and query -> the SharedKey checks, all dialects. Nothing may
// crash, and nothing may pass: the fuzzer does not know the key.
#include <string>

#include "auth/authenticate.h"
#include "auth/shared_key.h"
#include "base/check.h"
#include "wire/query.h"

namespace {
using namespace kyanite;

// Takes the text up to the next newline.
std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const auto shape = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);

  http::Request request;
  request.method = next_line(text);
  request.target = next_line(text);
  const size_t mark = request.target.find('?');
  request.path = request.target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = request.target.substr(mark + 1);
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      request.headers.add(line.substr(0, colon), line.substr(colon + 1));
  }
  const auto query = wire::Query::parse(request.query);
  if (!query) return 0;
  // The date is one that the fuzzer finds in its seeds, so that the signature is reached.
  request.headers.add("x-ms-date", "Sun, 01 Mar 2026 12:00:00 GMT");

  auth::Target target;
  target.service = static_cast<wire::Service>(shape & 3);
  target.path_style = (shape & 4) != 0;
  target.secondary = (shape & 8) != 0;
  target.account = "account";
  target.raw_path = request.path;
  const auth::Account account{"account", {auth::Key("secret")}};
  const auth::SharedKeyCredential credential{(shape & 16) != 0, "account",
                                             "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="};
  const Time now{639'079'632'000'000'000};
  CHECK(!auth::verify_shared_key(credential, request, *query, target, account, now).ok());
  (void)auth::SharedKeyCredential::parse(request.headers.get("authorization"));
  return 0;
}
