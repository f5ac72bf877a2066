#include "http/url.h"

#include <gtest/gtest.h>

#include <string>

namespace kyanite::http {
namespace {

// "https example:443 /path ?query", or "" for what is no URL.
std::string shown(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return "";
  return std::string(url->secure ? "https " : "http ") + url->host + ":" +
         std::to_string(url->port) + " " + url->path + " ?" + url->query;
}

TEST(Url, ParsesAbsoluteUrls) {
  const struct {
    std::string_view text;
    std::string_view expected;
  } cases[] = {
      {"http://example", "http example:80 / ?"},
      {"https://Example.COM/a/b?x=1&y=%20", "https example.com:443 /a/b ?x=1&y=%20"},
      {"HTTP://h:8080/p", "http h:8080 /p ?"},
      {"http://h:/p", "http h:80 /p ?"},
      {"http://h?q", "http h:80 / ?q"},
      {"http://h/p#fragment", "http h:80 /p ?"},
      {"http://h/p?q#fragment", "http h:80 /p ?q"},
      {"http://[::1]:81/p", "http ::1:81 /p ?"},
      {"http://h/\xc3\xa4", "http h:80 /\xc3\xa4 ?"},
      {"http://h/a?b?c", "http h:80 /a ?b?c"},
  };
  for (const auto& each : cases) EXPECT_EQ(shown(each.text), each.expected) << each.text;
}

TEST(Url, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "h/p",
                                      "/p",
                                      "ftp://h/p",
                                      "file:///etc/passwd",
                                      "http:/h",
                                      "http://",
                                      "http:///p",
                                      "http://user@h/p",
                                      "http://user:pass@h/p",
                                      "http://h:0/",
                                      "http://h:65536/",
                                      "http://h:x/",
                                      "http://[::1/",
                                      "http://[::1]x/",
                                      "http://[h]/",
                                      "http://h h/",
                                      "http://h/a b",
                                      "http://h/\r\nX: y",
                                      "http://h/\t",
                                      "http://h\\p",
                                      "http://h/<a>",
                                      "//h/p",
                                      "http://h%41/"}) {
    EXPECT_EQ(shown(text), "") << text;
  }
}

TEST(Url, WritesAuthorityAndTarget) {
  const struct {
    std::string_view text;
    std::string_view authority;
    std::string_view target;
  } cases[] = {
      {"http://h/p?q=1", "h", "/p?q=1"}, {"http://h:80/", "h", "/"},
      {"https://h:80/", "h:80", "/"},    {"https://h:443/p", "h", "/p"},
      {"http://[::1]/p", "[::1]", "/p"}, {"http://[::1]:8080/p", "[::1]:8080", "/p"},
  };
  for (const auto& each : cases) {
    const auto url = parse_url(each.text);
    ASSERT_TRUE(url) << each.text;
    EXPECT_EQ(url->authority(), each.authority) << each.text;
    EXPECT_EQ(url->target(), each.target) << each.text;
  }
}

TEST(Url, FollowsRedirects) {
  const auto base = parse_url("https://h:444/old/page?q");
  const struct {
    std::string_view location;
    std::string_view expected;  // "" for none
  } cases[] = {
      {"/new?x", "https://h:444/new?x"},
      {"//other/p", "https://other/p"},
      {"http://plain/p", "http://plain/p"},
      {"https://h/p", "https://h/p"},
      {"", ""},
      {"relative", ""},
      {"javascript:alert(1)", ""},
      {"ftp://h/", ""},
  };
  for (const auto& each : cases) {
    const auto next = follow(*base, each.location);
    const std::string got =
        next ? (next->secure ? "https://" : "http://") + next->authority() + next->target() : "";
    EXPECT_EQ(got, each.expected) << each.location;
  }
}

}  // namespace
}  // namespace kyanite::http
