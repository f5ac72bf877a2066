#include "server/admin.h"

#include <gtest/gtest.h>

#include "base/executor.h"

namespace kyanite::server {
namespace {

struct Answer {
  int status;
  std::string body;
  std::optional<uint64_t> announced;
};

Answer ask(Admin& admin, std::string_view method, std::string_view path) {
  http::Request request;
  request.method = method;
  request.target = request.path = path;
  auto reply = RunLoop::run(admin.serve(request));
  const auto* body = std::get_if<std::string>(&reply.body);
  return {reply.status, body != nullptr ? *body : "", reply.stream_length};
}

Task<std::optional<std::string>> healthy() { co_return std::nullopt; }
std::string no_jobs() { return "none\n"; }

TEST(Admin, HealthFollowsTheCheck) {
  std::optional<std::string> problem;
  Admin admin([&]() -> Task<std::optional<std::string>> { co_return problem; }, {}, no_jobs);
  EXPECT_EQ(ask(admin, "GET", "/healthz").status, 200);
  problem = "the disk is gone";
  const Answer answer = ask(admin, "GET", "/healthz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.body, "the disk is gone\n");
}

TEST(Admin, OthersAnswerAtPathsOfTheirs) {
  TextPage page("theirs");
  Admin admin(healthy, {}, no_jobs);
  admin.add("/page", page);
  EXPECT_EQ(ask(admin, "GET", "/page").body, "theirs");
  EXPECT_EQ(ask(admin, "POST", "/page").status, 200);
  EXPECT_EQ(ask(admin, "GET", "/page/").status, 404);
  EXPECT_EQ(ask(admin, "GET", "/healthz").status, 200);
}

TEST(Admin, MetricsOfAllSourcesInOrder) {
  Admin admin(healthy,
              {[](std::string& out) { out += "a 1\n"; }, [](std::string& out) { out += "b 2\n"; }},
              no_jobs);
  EXPECT_EQ(ask(admin, "GET", "/metrics").body, "a 1\nb 2\n");
  const Answer head = ask(admin, "HEAD", "/metrics");
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(head.announced, 8u);
}

TEST(Admin, ShowsTheJobs) {
  Admin admin(healthy, {}, no_jobs);
  const Answer answer = ask(admin, "GET", "/jobs");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "none\n");
}

TEST(Admin, RefusesTheRest) {
  Admin admin(healthy, {}, no_jobs);
  EXPECT_EQ(ask(admin, "GET", "/").status, 404);
  EXPECT_EQ(ask(admin, "GET", "/metrics/").status, 404);
  EXPECT_EQ(ask(admin, "POST", "/metrics").status, 405);
}

}  // namespace
}  // namespace kyanite::server
