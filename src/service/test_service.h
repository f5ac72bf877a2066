// A service called as the front calls it but for authentication, for the tests of services.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/executor.h"
#include "service/deadline.h"
#include "service/gate.h"
#include "service/operation.h"
#include "service/service.h"
#include "service/test_support.h"

namespace kyanite::service {

class StringBody final : public http::BodyReader {
 public:
  explicit StringBody(std::string_view text) : text_(text), length_(text.size()) {}
  Task<Result<Buffer, http::BodyError>> next() override {
    const std::string_view piece = text_.substr(0, kChunkBytes);
    text_.remove_prefix(piece.size());
    co_return Buffer::copy_of(piece);
  }
  std::optional<uint64_t> length() const override { return length_; }

 private:
  std::string_view text_;
  const uint64_t length_;
};

// What a connection would send of a body in memory; "(failed)" stands for the rest of a broken one.
inline Task<std::string> read_all(http::BodyStream& stream) {
  std::string whole;
  while (true) {
    auto bytes = co_await stream.next();
    if (!bytes) co_return whole + "(failed)";
    const auto* piece = std::get_if<Buffer>(&*bytes);
    CHECK(piece != nullptr);
    if (piece->empty()) co_return whole;
    whole += piece->view();
  }
}

struct TestAnswer {
  int status = 0;
  std::string code;  // of the error
  std::string head;
  std::string body;
  std::vector<std::pair<std::string, std::string>> details;  // of the error

  TestAnswer() = default;
  explicit TestAnswer(wire::Result<http::Reply> reply) {
    if (!reply) {
      status = reply.error().status;
      code = wire::name(reply.error().code);
      for (const auto& [name, value] : reply.error().details) details.emplace_back(name, value);
      return;
    }
    status = reply->status;
    head = reply->head;
    if (auto* text = std::get_if<std::string>(&reply->body)) body = *text;
    if (auto* bytes = std::get_if<http::Reply::Shared>(&reply->body)) body = bytes->bytes;
    if (auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply->body))
      body = RunLoop::run(read_all(**stream));
  }

  // "201", or "409 BlobAlreadyExists": what most tests look at.
  std::string outcome() const { return std::to_string(status) + (code.empty() ? "" : " " + code); }

  // The value of a header, or "".
  std::string header(std::string_view name) const {
    const std::string start = std::string(name) + ": ";
    const size_t at = head.find(start);
    if (at == std::string::npos) return "";
    const size_t from = at + start.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

// Finds the operation that `path`, below the account, and the request's method and query name, and
// runs it.
inline Task<wire::Result<http::Reply>> serve_test(Call& call, std::string path) {
  if (auto addressed = call.service->address(call, path); !addressed) co_return addressed.error();
  auto operation =
      route(call.service->operations_for(call), call.request, call.query, call.target.level);
  if (!operation) co_return operation.error();
  call.operation = *operation;
  if (auto allowed = co_await authorize(call); !allowed) co_return allowed.error();
  co_return co_await (*operation)->run(call);
}

// One service over a store of the test's choice, with a clock moved by hand, asked by the owner of
// the account. Requests may come from several threads at once.
template <class Served>
class TestHost {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  struct Request {
    std::string method;
    std::string path;  // below the account
    std::string query = {};
    Headers headers = {};
    std::string body = {};
    auth::Caller caller = owner();
  };
  // Whoever has a key of the account.
  static auth::Caller owner() {
    auth::Caller caller;
    caller.kind = auth::Caller::Kind::kOwner;
    return caller;
  }

  // The same server without the lines in which writers wait: nothing may depend on them.
  struct Apart {
    explicit Apart(const Context& like)
        : context{like.store, locks, like.workers, like.clock, like.accounts, like.settings} {}
    store::KeyedLocks locks;
    Context context;
  };

  Task<TestAnswer> serve(Context& shared, Request asked) {
    http::Request request;
    Call call(request, shared);
    request.headers.add("Host", host_);
    for (const auto& [name, value] : asked.headers) request.headers.add(name, value);
    StringBody body(asked.body);
    request.method = asked.method;
    request.body = &body;
    call.query = wire::Query::parse(asked.query).value();
    call.now = shared.clock.now();
    call.request_id = std::to_string(++requests_);
    call.target.account = "account";
    call.endpoint = "http://" + host_ + "/account/";
    call.target.service = kind_;
    call.service = &service;
    call.caller = asked.caller;
    call.version_text = version;
    call.version = wire::Version::parse(version).value();
    EXPECT_TRUE(set_deadline(call).ok());
    co_return TestAnswer(co_await serve_test(call, asked.path));
  }

  TestAnswer send(Request request) {
    return RunLoop::run(serve(around.context, std::move(request)));
  }

  std::string version = "2024-11-04";  // that requests speak
  TestContext around;
  Served service;

 protected:
  // `host` is what clients call the server: copies name their sources by it.
  TestHost(wire::Service kind, std::string host) : kind_(kind), host_(std::move(host)) {
    add_account();
  }
  TestHost(wire::Service kind, std::string host, store::Store& store)
      : around(store), kind_(kind), host_(std::move(host)) {
    add_account();
  }

 private:
  // The account in which all of it happens must be known where URLs name sources.
  void add_account() { around.accounts.replace({{"account", {auth::Key("key")}}}); }

  const wire::Service kind_;
  const std::string host_;
  std::atomic<int> requests_ = 0;
};

}  // namespace kyanite::service
