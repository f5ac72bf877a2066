// A service called as the front calls it but for authorization, for the tests of services.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/executor.h"
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
  auto operation = route(call.service->operations(), call.request, call.query, call.target.level);
  if (!operation) co_return operation.error();
  call.operation = *operation;
  co_return co_await (*operation)->run(call);
}

}  // namespace kyanite::service
