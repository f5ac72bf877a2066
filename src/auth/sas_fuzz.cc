// Bytes -> a query -> every kind of SAS at every level of every service. Nothing may crash, and
// nothing may pass: the fuzzer does not know the key.
#include <string>

#include "auth/jwt.h"
#include "auth/sas.h"
#include "base/check.h"
#include "wire/query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const auto shape = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  (void)auth::Jwt::parse(text);

  const auto query = wire::Query::parse(text);
  if (!query) return 0;
  http::Request request;
  request.method = "GET";
  request.peer = "127.0.0.1";
  request.headers.add("x-ms-meta-one", "1");
  auth::Target target;
  target.service = static_cast<wire::Service>(shape & 3);
  static constexpr auth::Level kLevels[] = {auth::Level::kService, auth::Level::kContainer,
                                            auth::Level::kObject};
  target.level = kLevels[(shape >> 2) % 3];
  target.account = "account";
  if (target.level != auth::Level::kService) target.container = "container";
  if (target.level == auth::Level::kObject) target.object = "a/b/c";
  target.snapshot = query->get("snapshot");
  target.version_id = query->get("versionid");
  const auth::Account account{"account", {auth::Key("secret"), auth::Key("other")}};
  CHECK(!auth::verify_sas(request, *query, target, account, Time{639'079'632'000'000'000}).ok());
  return 0;
}
