// The life of a request, top to bottom. docs/LIFE_OF_A_REQUEST.md walks along.
#include "account/properties.h"
#include "base/random.h"
#include "front/cors.h"
#include "front/front.h"
#include "front/refuse.h"
#include "service/deadline.h"
#include "service/gate.h"
#include "service/operation.h"
#include "wire/version.h"

namespace kyanite::front {

using service::Call;
using wire::Code;

Task<http::Reply> Front::serve_part(http::Request& request, std::string_view version) {
  const auto began = log_.begin();
  Call call(request, context_);
  call.request_id = random_uuid();
  call.hold = context_.store.hold();
  call.service = &service_;
  call.target.service = service_.kind();
  call.parts = this;
  call.version_text = version;

  auto answered = co_await answer(call);
  http::Reply reply =
      answered ? std::move(*answered) : refuse(service_, call, answered.error(), context_.auth());
  if (!answered && answered.error().names != wire::Error::Names::kVersionAndCode)
    call.version_text.clear();

  co_await finish(call, reply);
  const auto took = log_.write(call, reply, began);
  metrics_.count(call, reply, took);
  co_return reply;
}

namespace {
// Requests that may have a body must say how long it is, even where there is none.
bool tells_its_length(const http::Request& request) {
  if (request.method != "PUT" && request.method != "POST") return true;
  return request.headers.has("Content-Length") || request.headers.has("Transfer-Encoding");
}
}  // namespace

Task<wire::Result<http::Reply>> Front::answer(Call& call) {
  // The version is chosen even when the path leads nowhere: errors carry it too.
  auto resolved = service::resolve(call);
  if (auto chosen = co_await choose_version(call); !chosen) co_return chosen.error();
  if (!resolved) co_return resolved.error();
  if (call.request.method == "OPTIONS") {
    auto properties = co_await account::load_properties(call);
    if (!properties) co_return properties.error();
    co_return preflight(call.request, (*properties)->cors);
  }

  if (!tells_its_length(call.request)) co_return wire::Error(Code::kMissingContentLengthHeader);
  if (auto known = service::authenticate(call); !known) co_return known.error();

  auto operation =
      service::route(service_.operations_for(call), call.request, call.query, call.target.level);
  if (!operation) co_return operation.error();
  call.operation = *operation;

  if (auto allowed = co_await service::authorize(call); !allowed) co_return allowed.error();
  if (auto timed = service::set_deadline(call); !timed) co_return timed.error();
  if (call.operation->run == nullptr) {
    co_return wire::Error(Code::kNotImplemented)
        .saying(std::string(call.operation->name) + " is not implemented by this server.");
  }
  co_return co_await call.operation->run(call);
}

// x-ms-version, else the api-version parameter, else the version of the SAS, else that of the batch
// this is a part of, else what the account has set as its default.
Task<wire::Result<void>> Front::choose_version(Call& call) {
  constexpr std::string_view kHeader = "x-ms-version";
  for (const std::string_view named :
       {call.headers().get(kHeader), call.query.get("api-version"), call.query.get("sv")}) {
    if (named.empty()) continue;
    call.version_text = named;
    break;
  }
  if (call.version_text.empty()) {
    auto properties = co_await account::load_properties(call);
    if (!properties) co_return properties.error();
    call.version_text =
        (*properties)->default_version.empty() ? "2009-09-19" : (*properties)->default_version;
  }
  const auto version = wire::Version::parse(call.version_text);
  if (!version) {
    std::string sent = std::exchange(call.version_text, std::string());
    co_return wire::invalid_header(kHeader, sent);
  }
  call.version = *version;
  co_return wire::Result<void>();
}

namespace {
// ETags of blobs, containers and queues; those of entities are quoted in every version.
void unquote_etag(http::Reply& reply) {
  constexpr std::string_view kLine = "ETag: \"0x";
  const size_t begin = reply.head.find(kLine);
  if (begin == std::string::npos || (begin > 0 && reply.head[begin - 1] != '\n')) return;
  const size_t open = begin + kLine.find('"');
  reply.head.erase(reply.head.find('"', open + 1), 1);
  reply.head.erase(open, 1);
}
}  // namespace

// The headers that every reply carries.
Task<void> Front::finish(Call& call, http::Reply& reply) {
  reply.header("x-ms-request-id", call.request_id);
  if (!call.version_text.empty()) reply.header("x-ms-version", call.version_text);
  const auto client_id = call.headers().get("x-ms-client-request-id");
  if (is_echoed(client_id)) reply.header("x-ms-client-request-id", client_id);
  if (call.version < wire::kQuotedETags && call.version != wire::Version{}) unquote_etag(reply);
  // Without an origin, caches must still learn whether the reply would differ for another.
  const bool may_vary =
      call.headers().has("Origin") || call.request.method == "GET" || call.request.method == "HEAD";
  if (may_vary && call.request.method != "OPTIONS" && !call.target.account.empty()) {
    auto properties = co_await account::load_properties(call);
    if (properties) add_cors_headers(reply, call.request, (*properties)->cors);
  }
}

}  // namespace kyanite::front
