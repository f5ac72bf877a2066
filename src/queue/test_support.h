// A Queue service with a clock moved by hand, called as the front calls it but for authorization.
#pragma once

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "queue/service.h"
#include "service/test_support.h"

namespace kyanite::queue {

class StringBody final : public http::BodyReader {
 public:
  explicit StringBody(std::string_view text) : text_(text) {}
  Task<Result<Buffer, http::BodyError>> next() override {
    const std::string_view piece = text_.substr(0, kChunkBytes);
    text_.remove_prefix(piece.size());
    co_return Buffer::copy_of(piece);
  }
  std::optional<uint64_t> length() const override { return text_.size(); }

 private:
  std::string_view text_;
};

struct Answer {
  int status = 0;
  std::string code;  // of the error
  std::string head;
  std::string body;
  std::vector<std::pair<std::string, std::string>> details;  // of the error

  // The value of a header, or "".
  std::string header(std::string_view name) const {
    const std::string start = std::string(name) + ": ";
    const size_t at = head.find(start);
    if (at == std::string::npos) return "";
    const size_t from = at + start.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
  std::string detail(std::string_view name) const {
    for (const auto& [element, value] : details) {
      if (element == name) return value;
    }
    return "";
  }
  // Which elements of QueueMessage hold what, for each message.
  struct Message {
    std::string id, receipt, text, next_visible, inserted, expires, dequeue_count;
    std::string elements;  // names in order
  };
  std::vector<Message> messages() const {
    pugi::xml_document document;
    EXPECT_TRUE(document.load_string(body.c_str(), pugi::parse_default | pugi::parse_ws_pcdata));
    std::vector<Message> list;
    for (const auto& node : document.child("QueueMessagesList").children()) {
      Message message{node.child_value("MessageId"),     node.child_value("PopReceipt"),
                      node.child_value("MessageText"),   node.child_value("TimeNextVisible"),
                      node.child_value("InsertionTime"), node.child_value("ExpirationTime"),
                      node.child_value("DequeueCount"),  ""};
      for (const auto& element : node.children())
        message.elements += std::string(element.name()) + " ";
      list.push_back(std::move(message));
    }
    return list;
  }
};

// Requests may come from several threads at once.
class TestService {
 public:
  TestService() = default;
  explicit TestService(store::Store& store) : around(store) {}

  struct Request {
    std::string_view method;
    std::string_view path;  // below the account
    std::string_view query = {};
    std::string_view body = {};
    std::string_view version = "2021-02-12";
    std::vector<std::pair<std::string_view, std::string_view>> headers = {};
  };

  Answer send(const Request& request) {
    service::TestCall test(around, request.query);
    for (const auto& [name, value] : request.headers) test.request.headers.add(name, value);
    StringBody body(request.body);
    test.request.method = request.method;
    test.request.body = &body;
    test.call.service = &service;
    test.call.target.service = wire::Service::kQueue;
    test.call.version = wire::Version::parse(request.version).value();
    return answer(test, RunLoop::run(serve(test.call, std::string(request.path))));
  }

  // The requests most tests make.
  Answer put(std::string_view text, std::string_view query = {}) {
    const std::string body = document(text);
    return send({"POST", "jobs/messages", query, body});
  }
  Answer get(std::string_view query = {}) { return send({"GET", "jobs/messages", query}); }
  Answer peek(std::string query = "numofmessages=32") {
    query += "&peekonly=true";
    return send({"GET", "jobs/messages", query});
  }
  Answer update(const Answer::Message& message, std::string_view visibility,
                std::string_view body = {}) {
    const std::string path = "jobs/messages/" + message.id;
    const std::string query =
        receipt_query(message.receipt) + "&visibilitytimeout=" + std::string(visibility);
    return send({"PUT", path, query, body});
  }
  Answer remove(const Answer::Message& message) {
    const std::string path = "jobs/messages/" + message.id;
    return send({"DELETE", path, receipt_query(message.receipt)});
  }
  std::string count() {
    return send({"GET", "jobs", "comp=metadata"}).header("x-ms-approximate-messages-count");
  }
  void create() { ASSERT_EQ(send({"PUT", "jobs"}).status, 201); }

  static std::string document(std::string_view text) {
    return "<QueueMessage><MessageText>" + std::string(text) + "</MessageText></QueueMessage>";
  }
  static std::string receipt_query(std::string_view receipt) {
    return "popreceipt=" + wire::percent_encode(receipt);
  }

  service::TestContext around;
  QueueService service;

 private:
  Task<wire::Result<http::Reply>> serve(service::Call& call, std::string path) {
    if (auto addressed = service.address(call, path); !addressed) co_return addressed.error();
    auto operation =
        service::route(service.operations(), call.request, call.query, call.target.level);
    if (!operation) co_return operation.error();
    co_return co_await (*operation)->run(call);
  }

  static Answer answer(const service::TestCall&, wire::Result<http::Reply> reply) {
    Answer answer;
    if (!reply) {
      answer.status = reply.error().status;
      answer.code = wire::name(reply.error().code);
      for (const auto& [name, value] : reply.error().details)
        answer.details.emplace_back(name, value);
      return answer;
    }
    answer.status = reply->status;
    answer.head = reply->head;
    if (auto* text = std::get_if<std::string>(&reply->body)) answer.body = *text;
    return answer;
  }
};

}  // namespace kyanite::queue
