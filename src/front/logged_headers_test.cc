#include "front/logged_headers.h"

#include <gtest/gtest.h>

namespace kyanite::front {
namespace {

TEST(LoggedHeaders, SecretsAreBlanked) {
  const struct {
    std::string_view name, value, shown;
  } cases[] = {
      {"Authorization", "SharedKey acme:c2VjcmV0", "SharedKey REDACTED"},
      {"authorization", "Bearer a.b.c", "Bearer REDACTED"},
      {"AUTHORIZATION", "secret", "REDACTED"},
      {"Authorization", "", "REDACTED"},
      {"x-ms-copy-source-authorization", "Bearer a.b.c", "Bearer REDACTED"},
      {"x-ms-file-rename-source-authorization", "Bearer a.b.c", "Bearer REDACTED"},
      {"Proxy-Authorization", "Basic c2VjcmV0", "Basic REDACTED"},
      {"x-ms-encryption-key", "c2VjcmV0", "REDACTED"},
      {"X-Ms-Source-Encryption-Key", "c2VjcmV0", "REDACTED"},
      {"Cookie", "a=b", "REDACTED"},
      {"Set-Cookie", "a=b", "REDACTED"},
      {"x-ms-copy-source", "http://h/a/b?sv=1&sig=c2VjcmV0", "http://h/a/b?sv=1&sig=REDACTED"},
      {"x-ms-copy-source", "http://h/a/b?SIG=c2VjcmV0&se=2", "http://h/a/b?sig=REDACTED&se=2"},
      {"x-ms-copy-source", "http://h/a?s%69g=c2VjcmV0", "http://h/a?sig=REDACTED"},
      {"x-ms-file-rename-source", "http://h/a?sig=c2VjcmV0", "http://h/a?sig=REDACTED"},
      {"x-ms-previous-snapshot-url", "http://h/a?sig=c2VjcmV0", "http://h/a?sig=REDACTED"},
      {"Referer", "http://h/?u=http%3A%2F%2Fa%3Fsig%3Dc2VjcmV0",
       "http://h/?u=http%3A%2F%2Fa%3Fsig%3DREDACTED"},
      {"x-ms-version", "2021-12-02", "2021-12-02"},
      {"x-ms-encryption-key-sha256", "aGFzaA==", "aGFzaA=="},
      {"x-ms-meta-design", "desig=n", "desig=n"},
      {"User-Agent", "sdk/1 (a; b)", "sdk/1 (a; b)"},
  };
  for (const auto& c : cases) EXPECT_EQ(logged_value(c.name, c.value), c.shown) << c.name;
}

TEST(LoggedHeaders, RequestsAndRepliesLookAlike) {
  http::Headers headers;
  headers.add("Host", "h");
  headers.add("Authorization", "Bearer a.b.c");
  EXPECT_EQ(logged_headers(headers), "Host: h | Authorization: Bearer REDACTED");
  http::Reply reply(200);
  reply.header("ETag", "\"0x1\"").header("Set-Cookie", "secret");
  EXPECT_EQ(logged_headers(reply.head), "ETag: \"0x1\" | Set-Cookie: REDACTED");
  EXPECT_EQ(logged_headers(std::string_view()), "");
}

TEST(LoggedHeaders, LongOnesAreCutShort) {
  const std::string longest(kMaxLoggedValue, 'a');
  EXPECT_EQ(logged_value("x-ms-meta-a", longest), longest);
  EXPECT_EQ(logged_value("x-ms-meta-a", longest + "a"), longest + "...");
  http::Headers headers;
  for (int i = 0; i < 100; ++i) headers.add("x-ms-meta-a", longest);
  EXPECT_LE(logged_headers(headers).size(), kMaxLoggedHeaders + kMaxLoggedValue + 32);
}

}  // namespace
}  // namespace kyanite::front
