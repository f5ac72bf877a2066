// A Queue service with a clock moved by hand, called as the front calls it but for authentication.
#pragma once

#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "queue/service.h"
#include "service/test_service.h"

namespace kyanite::queue {

struct Answer : service::TestAnswer {
  using TestAnswer::TestAnswer;

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
    service::StringBody body(request.body);
    test.request.method = request.method;
    test.request.body = &body;
    test.call.service = &service;
    test.call.caller.kind = auth::Caller::Kind::kOwner;
    test.call.target.service = wire::Service::kQueue;
    test.call.version = wire::Version::parse(request.version).value();
    return Answer(RunLoop::run(service::serve_test(test.call, std::string(request.path))));
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
};

}  // namespace kyanite::queue
