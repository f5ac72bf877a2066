#include "account/user_delegation_key.h"

#include <gtest/gtest.h>

#include <functional>

#include "service/test_service.h"

namespace kyanite::account {
namespace {

// A body before which something happens.
class LateBody final : public http::BodyReader {
 public:
  LateBody(std::string_view text, std::function<void()> before)
      : body_(text), before_(std::move(before)) {}
  Task<Result<Buffer, http::BodyError>> next() override {
    before_();
    return body_.next();
  }
  std::optional<uint64_t> length() const override { return body_.length(); }

 private:
  service::StringBody body_;
  const std::function<void()> before_;
};

std::string outcome(const std::function<void(auth::Accounts&)>& before_body) {
  service::TestContext around;
  around.accounts.replace({{"account", {auth::Key("key")}}});
  service::TestCall asked(around);
  asked.call.target.service = wire::Service::kBlob;
  asked.call.caller.kind = auth::Caller::Kind::kBearer;
  asked.call.caller.object_id = asked.call.caller.tenant_id = "id";
  asked.call.version_text = "2024-11-04";
  LateBody body("<KeyInfo><Expiry>2023-11-15T00:00:00Z</Expiry></KeyInfo>",
                [&] { before_body(around.accounts); });
  asked.request.body = &body;
  return service::TestAnswer(RunLoop::run(get_user_delegation_key(asked.call))).outcome();
}

TEST(UserDelegationKey, OfAnAccountThatIsTakenAwayWhileTheBodyComes) {
  EXPECT_EQ(outcome([](auth::Accounts&) {}), "200");
  EXPECT_EQ(outcome([](auth::Accounts& accounts) { accounts.replace({}); }),
            "404 ResourceNotFound");
  EXPECT_EQ(outcome([](auth::Accounts& accounts) {
              accounts.replace({{"account", {auth::Key("another key")}}});
            }),
            "200");
}

}  // namespace
}  // namespace kyanite::account
