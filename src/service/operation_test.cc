#include "service/operation.h"

#include <gtest/gtest.h>

namespace kyanite::service {
namespace {

using auth::Level;
using wire::Code;

constexpr auth::Need kNeed{};
Task<wire::Result<http::Reply>> serve(Call&) { co_return http::Reply(200); }

constexpr Operation kTable[] = {
    {"List", "list", "GET", Level::kService, "", "list", {}, kNeed, serve},
    {"Create", "create", "PUT", Level::kContainer, "container", "", {}, kNeed, serve},
    {"Delete", "delete", "DELETE", Level::kContainer, "container", "", {}, kNeed, serve},
    {"Get", "get", "GET", Level::kObject, "", "", {}, kNeed, serve},
    {"Tags", "tags", "GET", Level::kObject, "", "tags", {}, kNeed, serve},
    {"Copy sync",
     "copy-sync",
     "PUT",
     Level::kObject,
     "",
     "",
     {{"x-ms-copy-source", ""}, {"x-ms-requires-sync", "true"}},
     kNeed,
     serve},
    {"Copy", "copy", "PUT", Level::kObject, "", "", {{"x-ms-copy-source", ""}}, kNeed, serve},
    {"Put page",
     "put-page",
     "PUT",
     Level::kObject,
     "",
     "",
     {{"x-ms-blob-type", "PageBlob"}},
     kNeed,
     serve},
    {"Put block",
     "put-block",
     "PUT",
     Level::kObject,
     "",
     "",
     {{"x-ms-blob-type", "BlockBlob"}},
     kNeed,
     serve},
    {"Block from URL",
     "block-from",
     "PUT",
     Level::kObject,
     "",
     "block",
     {{"x-ms-copy-source", ""}},
     kNeed,
     serve},
    {"Block", "block", "PUT", Level::kObject, "", "block", {}, kNeed, serve},
    // Not served: told apart, and never what a request comes near to.
    {"Lease path",
     "lease-path",
     "POST",
     Level::kObject,
     "",
     "",
     {{"x-ms-lease-action", ""}},
     kNeed},
    {"List paths",
     "list-paths",
     "GET",
     Level::kContainer,
     "",
     "",
     {},
     kNeed,
     nullptr,
     {"resource", ""}},
    {"List accounts",
     "list-accounts",
     "GET",
     Level::kService,
     "",
     "",
     {},
     kNeed,
     nullptr,
     {"resource", "account"}},
};

struct Case {
  const char* method;
  Level level;
  const char* query;
  std::vector<std::pair<const char*, const char*>> headers;
  const char* id;  // of the row, or null when refused with
  Code code = Code::kInternalError;
  const char* detail = "";  // the header or parameter the error names
};

const Case kCases[] = {
    {"GET", Level::kService, "comp=list", {}, "list"},
    {"GET", Level::kService, "COMP=List&restype=", {}, "list"},
    {"PUT", Level::kContainer, "restype=container", {}, "create"},
    {"DELETE", Level::kContainer, "restype=Container", {}, "delete"},
    {"GET", Level::kObject, "", {}, "get"},
    {"GET", Level::kObject, "snapshot=x", {}, "get"},
    {"GET", Level::kObject, "comp=tags", {}, "tags"},
    {"PUT", Level::kObject, "", {{"x-ms-blob-type", "BlockBlob"}}, "put-block"},
    {"PUT", Level::kObject, "", {{"X-Ms-Blob-Type", "pageblob"}}, "put-page"},
    {"PUT", Level::kObject, "", {{"x-ms-copy-source", "u"}}, "copy"},
    {"PUT",
     Level::kObject,
     "",
     {{"x-ms-copy-source", "u"}, {"x-ms-requires-sync", "true"}},
     "copy-sync"},
    {"PUT",
     Level::kObject,
     "",
     {{"x-ms-copy-source", "u"}, {"x-ms-requires-sync", "false"}},
     "copy"},
    {"PUT", Level::kObject, "comp=block", {}, "block"},
    {"PUT", Level::kObject, "comp=block", {{"x-ms-copy-source", "u"}}, "block-from"},
    {"POST", Level::kObject, "", {{"x-ms-lease-action", "acquire"}}, "lease-path"},
    {"GET", Level::kContainer, "resource=filesystem", {}, "list-paths"},
    {"GET", Level::kContainer, "resource=", {}, "list-paths"},
    {"GET", Level::kContainer, "", {}, nullptr, Code::kUnsupportedHttpVerb},
    {"GET", Level::kService, "RESOURCE=Account", {}, "list-accounts"},
    {"GET", Level::kService, "resource=x", {}, nullptr, Code::kInvalidQueryParameterValue, "comp"},
    // The last row that only a header keeps from fitting names that header.
    {"PUT", Level::kObject, "", {}, nullptr, Code::kMissingRequiredHeader, "x-ms-blob-type"},
    {"PUT",
     Level::kObject,
     "",
     {{"x-ms-blob-type", "Blob"}},
     nullptr,
     Code::kInvalidHeaderValue,
     "x-ms-blob-type"},
    {"POST", Level::kObject, "", {}, nullptr, Code::kUnsupportedHttpVerb},
    {"get", Level::kObject, "", {}, nullptr, Code::kUnsupportedHttpVerb},
    {"GET", Level::kContainer, "restype=container", {}, nullptr, Code::kUnsupportedHttpVerb},
    {"DELETE", Level::kObject, "comp=tags", {}, nullptr, Code::kUnsupportedHttpVerb},
    {"DELETE", Level::kService, "", {}, nullptr, Code::kInvalidQueryParameterValue, "comp"},
    {"GET", Level::kService, "", {}, nullptr, Code::kInvalidQueryParameterValue, "comp"},
    {"GET", Level::kObject, "comp=list", {}, nullptr, Code::kInvalidQueryParameterValue, "comp"},
    {"GET", Level::kObject, "comp=none", {}, nullptr, Code::kInvalidQueryParameterValue, "comp"},
    {"GET",
     Level::kObject,
     "restype=container",
     {},
     nullptr,
     Code::kInvalidQueryParameterValue,
     "restype"},
    {"GET",
     Level::kService,
     "comp=list&restype=x",
     {},
     nullptr,
     Code::kInvalidQueryParameterValue,
     "comp"},
};

TEST(Route, FindsTheRowOrNamesWhatIsWrong) {
  for (size_t i = 0; i < std::size(kCases); ++i) {
    SCOPED_TRACE(i);
    const Case& c = kCases[i];
    http::Request request;
    request.method = c.method;
    for (const auto& [name, value] : c.headers) request.headers.add(name, value);
    const auto found = route(kTable, request, *wire::Query::parse(c.query), c.level);
    ASSERT_EQ(found.ok(), c.id != nullptr);
    if (c.id != nullptr) {
      EXPECT_EQ((*found)->id, c.id);
      continue;
    }
    EXPECT_EQ(found.error().code, c.code);
    const auto& details = found.error().details;
    EXPECT_EQ(details.empty() ? "" : details.front().second, c.detail);
  }
}

TEST(Route, AnEmptyTableServesNothing) {
  http::Request request;
  request.method = "GET";
  EXPECT_FALSE(route({}, request, wire::Query(), Level::kService).ok());
}

}  // namespace
}  // namespace kyanite::service
