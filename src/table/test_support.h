// The Table service over a store in memory, asked as the front would ask it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "auth/authorize.h"
#include "service/test_service.h"
#include "table/service.h"

namespace kyanite::table {

struct Answer : service::TestAnswer {
  using TestAnswer::TestAnswer;
  std::string message;  // of the error
};

class TableFixture : public testing::Test {
 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Answer ask(std::string_view method, std::string_view path, std::string_view query = "",
             std::string_view body = "", const Headers& headers = {}) {
    http::Request request;
    request.method = method;
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    service::StringBody reader(body);
    request.body = &reader;
    service::Call call(request, *context_);
    call.query = wire::Query::parse(query).value();
    call.now = context_->clock.now();
    if (timeout_s_ > 0) call.deadline = Deadline(context_->clock, timeout_s_);
    call.target.account = "account";
    call.target.path_style = path_style_;
    call.target.service = wire::Service::kTable;
    call.endpoint = "http://h/";
    call.caller = caller_;
    call.request_id = "id";
    return to_answer(call, RunLoop::run(run(call, path)));
  }

  service::TestContext around_;
  service::Context* context_ = &around_.context;
  TableService service_;
  auth::Caller caller_ = owner();
  bool path_style_ = false;
  int64_t timeout_s_ = 0;  // 0: none.

 private:
  static auth::Caller owner() {
    auth::Caller caller;
    caller.kind = auth::Caller::Kind::kOwner;
    return caller;
  }

  Task<wire::Result<http::Reply>> run(service::Call& call, std::string_view path) {
    if (auto addressed = service_.address(call, path); !addressed) co_return addressed.error();
    auto operation =
        service::route(service_.operations(), call.request, call.query, call.target.level);
    if (!operation) co_return operation.error();
    call.operation = *operation;
    auto allowed = auth::authorize(call.caller, call.operation->need, call.target, {});
    if (!allowed) co_return allowed.error();
    co_return co_await call.operation->run(call);
  }

  Answer to_answer(const service::Call& call, wire::Result<http::Reply> result) {
    if (result) return Answer(std::move(result));
    http::Reply reply(result.error().status);
    service_.render(call, result.error(), reply);
    Answer answer(std::move(reply));
    answer.code = wire::name(result.error().code);
    answer.message = result.error().message;
    return answer;
  }
};

}  // namespace kyanite::table
