#include "upkeep/container.h"

#include <pugixml.hpp>

#include <chrono>
#include <thread>

#include "base/bytes.h"
#include "base/executor.h"
#include "wire/query.h"

namespace kyanite::upkeep {

namespace {

constexpr std::string_view kVersion = "2021-12-02";
constexpr size_t kMostReplyBytes = size_t{16} << 20;
constexpr int kMostTries = 5;
constexpr std::chrono::milliseconds kFirstPause{500};
// Of one request; a lease outlasts it.
constexpr std::chrono::seconds kWhole{40};

using Lines = Container::Lines;

std::string said(const http::FetchError& error) {
  switch (error.kind) {
    case http::FetchError::kUnknownHost:
      return "there is no such host";
    case http::FetchError::kUnreachable:
      return "it cannot be connected to, or its certificate is not trusted (SSL_CERT_FILE names "
             "others)";
    case http::FetchError::kTimeout:
      return "it takes too long";
    default:
      return "its answer cannot be understood";
  }
}

Task<Result<Container::Reply, std::string>> exchange(net::Client& client, std::string_view method,
                                                     http::Url url, Lines headers,
                                                     std::string_view body) {
  auto fetched = co_await client.send(method, std::move(url), std::move(headers), body);
  if (!fetched) co_return said(fetched.error());
  Container::Reply reply;
  reply.status = (*fetched)->status();
  reply.code = (*fetched)->headers().get("x-ms-error-code");
  reply.etag = (*fetched)->headers().get("ETag");
  reply.lease = (*fetched)->headers().get("x-ms-lease-id");
  while (true) {
    auto next = co_await (*fetched)->next();
    if (!next) co_return said(next.error());
    if (next->size() == 0) break;
    if (reply.body.size() + next->size() > kMostReplyBytes)
      co_return std::string("its answer is too long");
    reply.body.append(next->view());
  }
  co_return reply;
}

}  // namespace

std::string Container::Reply::why() const {
  return "the server refuses with " + std::to_string(status) + (code.empty() ? "" : " " + code);
}

Result<std::unique_ptr<Container>, std::string> Container::open(const std::string& url) {
  auto parsed = http::parse_url(url);
  if (!parsed) return Failure{std::string("this is no URL of http or https")};
  std::string name =
      std::string(parsed->secure ? "https" : "http") + "://" + parsed->authority() + parsed->path;
  while (parsed->path.ends_with('/')) parsed->path.pop_back();
  if (parsed->path.empty() || parsed->query.find("sig=") == std::string::npos)
    return Failure{std::string(
        "a URL names a container and has a SAS with the permissions r, a, c, w, d and l")};
  net::ClientOptions options;
  options.allow_private = true;  // The operator has chosen it.
  options.whole = kWhole;
  auto client = net::Client::create(options);
  if (!client) return Failure{client.error()};
  return std::unique_ptr<Container>(
      new Container(std::move(*parsed), std::move(name), std::move(*client)));
}

Result<Container::Reply, std::string> Container::try_once(std::string_view method,
                                                          const http::Url& url,
                                                          const Lines& headers,
                                                          std::string_view body) {
  auto reply = RunLoop::run(exchange(*client_, method, url, headers, body));
  if (reply && (reply->status >= 500 || reply->status == 408)) return Failure{reply->why()};
  return reply;
}

Result<Container::Reply, std::string> Container::ask(std::string_view method,
                                                     const std::string& blob,
                                                     const std::string& query, const Lines& headers,
                                                     std::string_view body, const May& may) {
  http::Url url = url_;
  if (!blob.empty()) url.path += "/" + wire::percent_encode(blob, "/");
  url.query = query.empty() ? url_.query : query + "&" + url_.query;
  Lines all = headers;
  all.emplace_back("x-ms-version", kVersion);
  auto pause = kFirstPause;
  for (int tries = 1;; ++tries) {
    if (may) {
      if (auto allowed = may(); !allowed) return Failure{allowed.error()};
    }
    auto reply = try_once(method, url, all, body);
    if (reply || tries == kMostTries) return reply;
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

Result<std::map<std::string, uint64_t>, std::string> Container::list(const std::string& prefix) {
  std::map<std::string, uint64_t> found;
  std::string marker;
  do {
    std::string query = "restype=container&comp=list&prefix=" + wire::percent_encode(prefix);
    if (!marker.empty()) query += "&marker=" + wire::percent_encode(marker);
    auto reply = ask("GET", "", query, {}, {});
    if (!reply) return Failure{reply.error()};
    if (!reply->ok()) return Failure{reply->why()};
    pugi::xml_document document;
    if (!document.load_buffer(reply->body.data(), reply->body.size()))
      return Failure{std::string("its list of blobs cannot be understood")};
    const auto results = document.child("EnumerationResults");
    for (const auto& blob : results.child("Blobs").children("Blob")) {
      const auto length =
          parse_uint(blob.child("Properties").child("Content-Length").child_value());
      found[blob.child("Name").child_value()] = length.value_or(0);
    }
    std::string next = results.child("NextMarker").child_value();
    if (!next.empty() && next == marker)
      return Failure{std::string("its list of blobs does not end")};
    marker = std::move(next);
  } while (!marker.empty());
  return found;
}

}  // namespace kyanite::upkeep
