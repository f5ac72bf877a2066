// A Blob service over a store of the test's choice, with a clock moved by hand, called as the front
// calls it but for authorization.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blob/service.h"
#include "service/test_service.h"

namespace kyanite::blob {

struct Answer : service::TestAnswer {
  using TestAnswer::TestAnswer;

  // "201", or "409 BlobAlreadyExists": what most tests look at.
  std::string outcome() const { return std::to_string(status) + (code.empty() ? "" : " " + code); }
};

class TestService {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  struct Request {
    std::string method;
    std::string path;  // below the account
    std::string query = {};
    Headers headers = {};
    std::string body = {};
  };

  TestService() { add_account(); }
  explicit TestService(store::Store& store) : around(store) { add_account(); }

  // The same server without the lines in which writers wait: nothing may depend on them.
  struct Apart {
    explicit Apart(const service::Context& like)
        : context{like.store, locks, like.workers, like.clock, like.accounts, like.settings} {}
    store::KeyedLocks locks;
    service::Context context;
  };

  Task<Answer> serve(service::Context& context, Request asked) {
    http::Request request;
    service::Call call(request, context);
    request.headers.add("Host", "127.0.0.1:10000");
    for (const auto& [name, value] : asked.headers) request.headers.add(name, value);
    service::StringBody body(asked.body);
    request.method = asked.method;
    request.body = &body;
    call.query = wire::Query::parse(asked.query).value();
    call.now = context.clock.now();
    call.request_id = std::to_string(++requests_);
    call.target.account = "account";
    call.target.service = wire::Service::kBlob;
    call.service = &service;
    call.caller.kind = auth::Caller::Kind::kOwner;
    call.version_text = "2024-11-04";
    call.version = wire::Version::parse("2024-11-04").value();
    co_return Answer(co_await service::serve_test(call, asked.path));
  }

  Answer send(Request request) { return RunLoop::run(serve(around.context, std::move(request))); }

  // The requests most tests make.
  Answer make_container(const std::string& name) {
    return send({"PUT", name, "restype=container"});
  }
  static Request put(const std::string& path, const std::string& tags = {},
                     const std::string& body = "x") {
    Headers headers{{"x-ms-blob-type", "BlockBlob"}};
    if (!tags.empty()) headers.emplace_back("x-ms-tags", tags);
    return {"PUT", path, {}, headers, body};
  }
  static Request set_tags(const std::string& path, const std::string& tag,
                          const std::string& value) {
    return {"PUT",
            path,
            "comp=tags",
            {},
            "<Tags><TagSet><Tag><Key>" + tag + "</Key><Value>" + value +
                "</Value></Tag></TagSet></Tags>"};
  }
  // The names in all pages of what a where expression (percent-encoded) finds, each with a blank
  // behind it. `pages` counts them.
  std::string find(const std::string& where, int* pages = nullptr) {
    std::string names;
    std::string marker;
    do {
      const auto answer = send(
          {"GET", "", "comp=blobs&where=" + where + (marker.empty() ? "" : "&marker=" + marker)});
      EXPECT_EQ(answer.status, 200) << answer.code;
      for (size_t at = 0; (at = answer.body.find("<Name>", at)) != std::string::npos;) {
        at += 6;
        names += answer.body.substr(at, answer.body.find('<', at) - at) + " ";
      }
      const size_t next = answer.body.find("<NextMarker>");
      marker.clear();
      if (next != std::string::npos)
        marker = answer.body.substr(next + 12, answer.body.find('<', next + 12) - next - 12);
      if (pages != nullptr) ++*pages;
    } while (!marker.empty());
    return names;
  }

  service::TestContext around;
  BlobService service;

 private:
  // The account in which all of it happens must be known where URLs name sources.
  void add_account() { around.accounts = auth::Accounts({{"account", {auth::Key("key")}}}); }

  int requests_ = 0;
};

}  // namespace kyanite::blob
