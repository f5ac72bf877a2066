#include "front/cors.h"

#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"

namespace kyanite::front {
namespace {

using Rules = std::vector<account::CorsRule>;

account::CorsRule rule(std::string origins, std::string methods, std::string allowed = "",
                       std::string exposed = "", uint64_t max_age_s = 0) {
  return {std::move(origins), std::move(methods), std::move(allowed), std::move(exposed),
          max_age_s};
}

// Headers of a reply by lower-case name; a repeated one fails the test.
std::map<std::string, std::string> headers_of(const http::Reply& reply) {
  std::map<std::string, std::string> headers;
  std::string_view rest = reply.head;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(line.size() + 2);
    const size_t colon = line.find(": ");
    const bool fresh =
        headers.emplace(ascii_lower(line.substr(0, colon)), line.substr(colon + 2)).second;
    EXPECT_TRUE(fresh) << line;
  }
  return headers;
}

http::Request preflight_request(std::string_view origin, std::string_view method,
                                std::string_view headers = {}) {
  http::Request request;
  request.method = "OPTIONS";
  request.headers.add("Origin", origin);
  request.headers.add("Access-Control-Request-Method", method);
  if (!headers.empty()) request.headers.add("Access-Control-Request-Headers", headers);
  return request;
}

struct Allowed {
  const char* origins;
  const char* methods;
  const char* headers;
  const char* origin;
  const char* method;
  const char* asked;
  bool granted;
};

TEST(Cors, PreflightIsGrantedByOriginMethodAndEveryHeader) {
  const Allowed cases[] = {
      {"http://a.com", "GET", "", "http://a.com", "GET", "", true},
      {"http://a.com", "GET", "", "HTTP://A.com", "GET", "", true},
      {"http://b.com, http://a.com", "PUT,GET", "", "http://a.com", "GET", "", true},
      {"*", "GET", "", "null", "GET", "", true},
      {"http://a.com", "GET", "", "http://a.com", "get", "", true},
      {"http://a.com", "GET", "", "https://a.com", "GET", "", false},
      {"http://a.com", "GET", "", "http://a.com:80", "GET", "", false},
      {"http://a.com", "GET", "", "http://a.com.b.com", "GET", "", false},
      {"http://a.com", "GET", "", "http://a.com", "PUT", "", false},
      {"http://a.com", "GET", "", "http://a.com", "GE", "", false},
      {"http://*.a.com", "GET", "", "http://x.a.com", "GET", "", true},
      {"http://*.a.com", "GET", "", "http://x.y.A.com", "GET", "", true},
      {"http://*.a.com", "GET", "", "http://a.com", "GET", "", false},
      {"http://*.a.com", "GET", "", "http://.a.com", "GET", "", false},
      {"http://*.a.com", "GET", "", "https://x.a.com", "GET", "", false},
      {"http://*.a.com", "GET", "", "http://xa.com", "GET", "", false},
      {"*", "GET", "x-ms-version", "http://a.com", "GET", "X-Ms-Version", true},
      {"*", "GET", "x-ms-meta-*", "http://a.com", "GET", "x-ms-meta-a, X-MS-META-b", true},
      {"*", "GET", "x-ms-meta-*", "http://a.com", "GET", "x-ms-meta-", true},
      {"*", "GET", "x-ms-meta-*,content-type", "http://a.com", "GET", "content-type", true},
      {"*", "GET", "*", "http://a.com", "GET", "anything,else", true},
      {"*", "GET", "", "http://a.com", "GET", "x-ms-version", false},
      {"*", "GET", "x-ms-meta-*", "http://a.com", "GET", "x-ms-meta", false},
      {"*", "GET", "x-ms-meta-*", "http://a.com", "GET", "x-ms-meta-a,x-ms-version", false},
      {"*", "GET", "x-ms-version", "http://a.com", "GET", "x-ms-versions", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.origins) + " " + c.methods + " " + c.headers + " <- " + c.origin +
                 " " + c.method + " " + c.asked);
    const auto reply = preflight(preflight_request(c.origin, c.method, c.asked),
                                 Rules{rule(c.origins, c.methods, c.headers)});
    ASSERT_EQ(reply.ok(), c.granted);
    if (c.granted) {
      EXPECT_EQ(reply->status, 200);
    } else {
      EXPECT_EQ(reply.error().code, wire::Code::kCorsPreflightFailure);
      EXPECT_EQ(reply.error().status, 403);
    }
  }
}

TEST(Cors, PreflightEchoesWhatWasAskedWithTheAgeOfTheFirstRuleThatFits) {
  const Rules rules = {rule("http://other.com", "GET", "*", "", 1), rule("*", "PUT", "*", "", 2),
                       rule("*", "GET", "x-ms-*", "", 200), rule("*", "GET", "*", "", 4)};
  const auto reply =
      preflight(preflight_request("http://a.com", "GET", "x-ms-date,x-ms-meta-k"), rules);
  ASSERT_TRUE(reply.ok());
  const std::map<std::string, std::string> expected = {
      {"access-control-allow-origin", "http://a.com"},
      {"access-control-allow-methods", "GET"},
      {"access-control-allow-headers", "x-ms-date,x-ms-meta-k"},
      {"access-control-max-age", "200"},
      {"access-control-allow-credentials", "true"},
  };
  EXPECT_EQ(headers_of(*reply), expected);
}

TEST(Cors, PreflightWithoutAskedHeadersAllowsNone) {
  const auto reply = preflight(preflight_request("http://a.com", "GET"), Rules{rule("*", "GET")});
  ASSERT_TRUE(reply.ok());
  EXPECT_FALSE(reply->has_header("Access-Control-Allow-Headers"));
}

TEST(Cors, PreflightNeedsOriginAndMethod) {
  const Rules rules = {rule("*", "GET")};
  for (const char* kept : {"", "Origin", "Access-Control-Request-Method"}) {
    http::Request request;
    request.method = "OPTIONS";
    if (*kept != '\0') request.headers.add(kept, "GET");
    const auto reply = preflight(request, rules);
    ASSERT_FALSE(reply.ok()) << kept;
    EXPECT_EQ(reply.error().code, wire::Code::kInvalidHeaderValue) << kept;
    EXPECT_EQ(reply.error().status, 400) << kept;
  }
}

TEST(Cors, PreflightWithoutRulesIsRefused) {
  const auto reply = preflight(preflight_request("http://a.com", "GET"), Rules{});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, wire::Code::kCorsPreflightFailure);
}

// The documented table: whether there is an Origin, which rules there are, and what the reply says.
struct Actual {
  const char* method;
  const char* origin;  // null: no such header
  Rules rules;
  const char* allow_origin;  // "" for none
  bool credentials;
  bool vary;
};

TEST(Cors, ActualRequestsByTheDocumentedTable) {
  const Rules none;
  const Rules all = {rule("*", "GET,HEAD,PUT")};
  const Rules one = {rule("http://a.com", "GET,HEAD,PUT")};
  const Rules subdomains = {rule("http://*.a.com", "GET")};
  const Rules one_then_all = {rule("http://a.com", "GET"), rule("*", "GET")};
  const Rules other_method = {rule("*", "DELETE")};
  const Actual cases[] = {
      {"GET", nullptr, none, "", false, false},
      {"GET", nullptr, one, "", false, true},
      {"GET", nullptr, all, "*", false, false},
      {"GET", nullptr, one_then_all, "*", false, false},
      {"GET", "http://a.com", none, "", false, false},
      {"GET", "http://a.com", one, "http://a.com", true, true},
      {"HEAD", "http://a.com", one, "http://a.com", true, true},
      {"PUT", "http://a.com", one, "http://a.com", true, false},
      {"GET", "http://b.com", one, "", false, true},
      {"PUT", "http://b.com", one, "", false, false},
      {"GET", "http://b.com", all, "*", false, false},
      {"GET", "http://x.a.com", subdomains, "http://x.a.com", true, true},
      {"GET", "http://a.com", one_then_all, "http://a.com", true, true},
      {"GET", "http://b.com", one_then_all, "*", false, false},
      {"GET", "http://a.com", other_method, "", false, true},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    const Actual& c = cases[i];
    http::Request request;
    request.method = c.method;
    if (c.origin != nullptr) request.headers.add("Origin", c.origin);
    http::Reply reply;
    add_cors_headers(reply, request, c.rules);
    auto headers = headers_of(reply);
    EXPECT_EQ(headers["access-control-allow-origin"], c.allow_origin);
    EXPECT_EQ(headers["access-control-allow-credentials"], c.credentials ? "true" : "");
    EXPECT_EQ(headers["vary"], c.vary ? "Origin" : "");
  }
}

TEST(Cors, ExposesTheNamesOfTheReplyThatTheRuleNames) {
  struct Case {
    const char* exposed;
    const char* listed;
  };
  const Case cases[] = {
      {"", ""},
      {"etag", "ETag"},
      {"x-ms-meta-*", "x-ms-meta-One,x-ms-meta-two"},
      {"X-MS-META-*, Date", "Date,x-ms-meta-One,x-ms-meta-two"},
      {"x-ms-absent,x-ms-meta-two", "x-ms-meta-two,x-ms-absent"},
      {"x-ms-absent-*", ""},
      {"*", "Content-Length,Date,ETag,x-ms-meta-One,x-ms-meta-two"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.exposed);
    http::Request request;
    request.method = "GET";
    request.headers.add("Origin", "http://a.com");
    http::Reply reply;
    reply.header("ETag", "\"0x1\"").header("x-ms-meta-One", "1").header("x-ms-meta-two", "2: b");
    add_cors_headers(reply, request, Rules{rule("*", "GET", "", c.exposed)});
    EXPECT_EQ(headers_of(reply)["access-control-expose-headers"], c.listed);
    EXPECT_EQ(reply.has_header("Access-Control-Expose-Headers"), *c.listed != '\0');
  }
}

}  // namespace
}  // namespace kyanite::front
