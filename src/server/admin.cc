#include "server/admin.h"

namespace kyanite::server {

namespace {

http::Reply text_reply(int status, std::string body) {
  http::Reply reply(status);
  reply.header("Content-Type", "text/plain; charset=utf-8");
  reply.body = std::move(body);
  return reply;
}

}  // namespace

Task<http::Reply> Admin::answer(std::string_view path) const {
  if (path == "/healthz") {
    const auto problem = co_await health_();
    co_return problem ? text_reply(503, *problem + "\n") : text_reply(200, "ok\n");
  }
  if (path == "/metrics") {
    std::string text;
    for (const MetricsSource& source : metrics_) source(text);
    http::Reply reply(200);
    reply.header("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    reply.body = std::move(text);
    co_return reply;
  }
  if (path == "/jobs") co_return text_reply(200, jobs_());
  co_return text_reply(404, "/healthz, /metrics and /jobs are here\n");
}

Task<http::Reply> TextPage::serve(http::Request&) { co_return text_reply(200, text_); }

Task<http::Reply> Admin::serve(http::Request& request) {
  if (const auto other = others_.find(request.path); other != others_.end())
    co_return co_await other->second->serve(request);
  if (request.method != "GET" && request.method != "HEAD") {
    http::Reply refusal = text_reply(405, "only GET and HEAD\n");
    refusal.header("Allow", "GET, HEAD");
    co_return refusal;
  }
  http::Reply reply = co_await answer(request.path);
  if (request.method == "HEAD") {
    reply.stream_length = std::get<std::string>(reply.body).size();
    reply.body = std::monostate();
  }
  co_return reply;
}

}  // namespace kyanite::server
