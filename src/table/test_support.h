// The Table service over a store in memory, asked as the front would ask it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "auth/authorize.h"
#include "base/executor.h"
#include "service/test_support.h"
#include "table/service.h"

namespace kyanite::table {

class StringBody final : public http::BodyReader {
 public:
  explicit StringBody(std::string_view text) : text_(text) {}
  Task<Result<Buffer, http::BodyError>> next() override {
    const std::string_view part = text_.substr(0, kChunkBytes);
    text_.remove_prefix(part.size());
    co_return Buffer::copy_of(part);
  }
  std::optional<uint64_t> length() const override { return text_.size(); }

 private:
  std::string_view text_;
};

struct Answer {
  int status = 0;
  std::string_view code;  // of the error
  std::string message;
  std::string head;
  std::string body;

  // The value of a header line; "" when absent.
  std::string header(std::string_view name) const {
    const size_t begin = head.find(std::string(name) + ": ");
    if (begin == std::string::npos) return {};
    const size_t value = begin + name.size() + 2;
    return head.substr(value, head.find("\r\n", value) - value);
  }
};

class TableFixture : public testing::Test {
 protected:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Answer ask(std::string_view method, std::string_view path, std::string_view query = "",
             std::string_view body = "", const Headers& headers = {}) {
    http::Request request;
    request.method = method;
    for (const auto& [name, value] : headers) request.headers.add(name, value);
    StringBody reader(body);
    request.body = &reader;
    service::Call call(request, *context_);
    call.query = wire::Query::parse(query).value();
    call.now = context_->clock.now();
    call.target.account = "account";
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
    Answer answer;
    http::Reply reply;
    if (result) {
      reply = std::move(*result);
    } else {
      reply.status = result.error().status;
      answer.code = wire::name(result.error().code);
      answer.message = result.error().message;
      service_.render(call, result.error(), reply);
    }
    answer.status = reply.status;
    answer.head = reply.head;
    if (const auto* text = std::get_if<std::string>(&reply.body)) answer.body = *text;
    return answer;
  }
};

}  // namespace kyanite::table
