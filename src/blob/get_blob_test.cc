// Get Blob, where it is sent while time passes.
#include <gtest/gtest.h>

#include "blob/service.h"
#include "service/deadline.h"
#include "service/test_service.h"

namespace kyanite::blob {
namespace {

class GetBlob : public testing::Test {
 protected:
  using Reply = wire::Result<http::Reply>;

  GetBlob() {
    EXPECT_EQ(send("PUT", "box", "restype=container")->status, 201);
    EXPECT_EQ(send("PUT", "box/data", "", std::string(2 * 1024 * 1024, 'x'))->status, 201);
  }

  Reply send(std::string_view method, const std::string& path, std::string_view query = {},
             std::string_view text = {}, bool structured = false) {
    service::TestCall test(around, query, {{"x-ms-blob-type", "BlockBlob"}});
    if (structured) test.request.headers.add("x-ms-structured-body", "XSM/1.0; properties=crc64");
    service::StringBody body(text);
    test.request.method = method;
    test.request.body = &body;
    test.call.service = &service;
    test.call.target.service = wire::Service::kBlob;
    test.call.caller.kind = auth::Caller::Kind::kOwner;
    test.call.version_text = "2025-05-05";
    test.call.version = wire::Version::parse("2025-05-05").value();
    EXPECT_TRUE(service::set_deadline(test.call).ok());
    return RunLoop::run(service::serve_test(test.call, path));
  }

  service::TestContext around;
  BlobService service;
};

TEST_F(GetBlob, MayTakeTwoMinutesForEachMegabyte) {
  for (const bool structured : {false, true}) {
    auto reply = send("GET", "box/data", "timeout=1", {}, structured);
    ASSERT_TRUE(reply.ok());
    auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply->body);
    ASSERT_NE(stream, nullptr);
    EXPECT_TRUE(RunLoop::run((*stream)->next()).ok());
    around.clock.advance_seconds(3 * 120 - 1);
    EXPECT_TRUE(RunLoop::run((*stream)->next()).ok());
    around.clock.advance_seconds(1);
    EXPECT_FALSE(RunLoop::run((*stream)->next()).ok());
  }
}

}  // namespace
}  // namespace kyanite::blob
