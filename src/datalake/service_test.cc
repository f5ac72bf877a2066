#include "datalake/service.h"

#include <gtest/gtest.h>

#include <string>

#include "http/message.h"
#include "service/operation.h"
#include "service/test_support.h"

namespace kyanite::datalake {
namespace {

// As clients of both APIs send it to the one port.
TEST(LakeService, TellsTheApisApart) {
  using auth::Level;
  const struct {
    const char* method;
    Level level;
    const char* query;
    const char* header;
    const char* name;
    const char* value = "any";  // of the header
  } cases[] = {
      {"GET", Level::kService, "resource=account", "", "Filesystem - List"},
      {"PUT", Level::kContainer, "resource=filesystem", "", "Filesystem - Create"},
      {"PATCH", Level::kContainer, "resource=filesystem", "", "Filesystem - Set Properties"},
      {"HEAD", Level::kContainer, "resource=filesystem", "", "Filesystem - Get Properties"},
      {"DELETE", Level::kContainer, "resource=filesystem", "", "Filesystem - Delete"},
      {"GET", Level::kContainer, "resource=filesystem&recursive=true", "", "Path - List"},
      {"PATCH", Level::kContainer, "action=setAccessControl", "",
       "Path - Update (setAccessControl)"},
      {"HEAD", Level::kContainer, "action=getStatus", "", "Path - Get Status"},
      {"PUT", Level::kObject, "resource=file", "", "Path - Create"},
      {"PUT", Level::kObject, "resource=directory", "", "Path - Create"},
      {"PUT", Level::kObject, "mode=legacy", "x-ms-rename-source", "Path - Rename"},
      {"PATCH", Level::kObject, "action=append&position=0", "", "Path - Update (append)"},
      {"PATCH", Level::kObject, "action=flush&position=0", "", "Path - Update (flush)"},
      {"PUT", Level::kObject, "action=append&position=0", "X-HTTP-Method-Override",
       "Path - Update (append)", "PATCH"},
      {"PUT", Level::kContainer, "resource=filesystem", "X-HTTP-Method-Override",
       "Filesystem - Set Properties", "PATCH"},
      {"POST", Level::kObject, "", "x-ms-lease-action", "Path - Lease"},
      {"HEAD", Level::kObject, "action=getAccessControl", "", "Path - Get Access Control"},
      {"DELETE", Level::kObject, "recursive=true", "", "Path - Delete"},
      {"DELETE", Level::kObject, "", "", "Delete Blob"},
      {"HEAD", Level::kObject, "", "", "Get Blob Properties"},
      {"GET", Level::kObject, "", "", "Get Blob"},
      {"PUT", Level::kObject, "", "x-ms-copy-source", "Copy Blob"},
      {"PUT", Level::kObject, "comp=lease", "x-ms-lease-action", "Lease Blob"},
      {"PUT", Level::kContainer, "restype=container", "", "Create Container"},
  };
  service::TestContext around;
  const LakeService lake;
  for (const auto& given : cases) {
    service::TestCall test(around, given.query);
    test.request.method = given.method;
    if (*given.header != 0) test.request.headers.add(given.header, given.value);
    const auto found =
        service::route(lake.operations_for(test.call), test.request, test.call.query, given.level);
    ASSERT_TRUE(found.ok()) << given.method << " " << given.query;
    EXPECT_EQ((*found)->name, given.name) << given.query;
  }
}

// In the words of the API that was asked, and with what is wrong.
TEST(LakeService, TellsErrors) {
  const auto error = wire::invalid_header("Content-Length", "0");
  service::TestContext around;
  const LakeService lake;
  service::TestCall test(around, "action=append");
  test.request.method = "PATCH";
  http::Reply reply(error.status);
  lake.render(test.call, error, reply);
  const auto& body = std::get<std::string>(reply.body);
  EXPECT_TRUE(body.starts_with(R"({"error":{"code":"InvalidHeaderValue","message":")")) << body;
  EXPECT_TRUE(body.ends_with(R"("detail":{"HeaderName":"Content-Length","HeaderValue":"0"}}})"))
      << body;

  http::Reply missing(404);
  lake.render(test.call, wire::Error(wire::Code::kContainerNotFound), missing);
  EXPECT_EQ(std::get<std::string>(missing.body).find("detail"), std::string::npos);
  ASSERT_NE(missing.reason, nullptr);
  EXPECT_EQ(*missing.reason, "The specified filesystem does not exist.");
  EXPECT_TRUE(missing.has_header("x-ms-error-code"));
}

}  // namespace
}  // namespace kyanite::datalake
