// Blob Batch: POST /?comp=batch, or POST /{container}?restype=container&comp=batch
//
// Every part is a request of its own, Delete Blob or Set Blob Tier, with its own authorization. It
// passes through the same front as if it had come alone; its reply becomes a part of the reply.
// What is wrong with the parts as a whole is told in the one part of the reply that there is then.
#include "base/bytes.h"
#include "base/random.h"
#include "blob/handlers.h"
#include "http/serialize.h"
#include "service/deadline.h"
#include "service/service.h"
#include "transfer/body.h"
#include "wire/multipart.h"
#include "wire/query.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr size_t kMaxParts = 256;
constexpr size_t kMaxPartsRead = 50'000;  // More are as good as unreadable.
constexpr size_t kMaxBatchBytes = 4 * 1024 * 1024;
constexpr int64_t kMaxSeconds = 120;  // For all parts together; then those that are left fail.

// Parts have no bodies.
class NoBody final : public http::BodyReader {
 public:
  Task<Result<Buffer, http::BodyError>> next() override { co_return Buffer(); }
  std::optional<uint64_t> length() const override { return 0; }
};

enum class Kind { kDelete, kSetTier };

std::optional<Kind> kind_of(const wire::EmbeddedRequest& part) {
  const size_t mark = part.url.find('?');
  const auto query = wire::Query::parse(mark == std::string_view::npos ? std::string_view()
                                                                       : part.url.substr(mark + 1));
  if (!query) return {};
  const std::string_view comp = query->get("comp");
  if (part.method == "DELETE" && comp.empty()) return Kind::kDelete;
  if (part.method == "PUT" && equals_ignoring_case(comp, "tier")) return Kind::kSetTier;
  return {};
}

struct BatchPart {
  wire::EmbeddedRequest request;
  std::string content_id;  // By which clients tell the replies apart.
};

// A batch of one container reaches no other.
bool is_within(const Call& call, std::string_view url) {
  if (call.target.container.empty()) return true;
  const std::string account = '/' + call.target.account;
  const auto decoded = wire::percent_decode(wire::strip_origin(url));
  if (!decoded) return false;
  std::string_view path = *decoded;
  if (path.starts_with(account + '/')) path.remove_prefix(account.size());
  return path.starts_with('/' + call.target.container + '/');
}

wire::Result<std::vector<BatchPart>> parse_batch(const Call& call, std::string_view body,
                                                 std::string_view boundary) {
  const auto split = wire::parse_multipart(body, boundary, kMaxPartsRead);
  if (!split || split->empty()) return wire::Error(Code::kInvalidInput);
  const std::vector<wire::Part>& parts = *split;
  if (parts.size() > kMaxParts) return wire::Error(Code::kExceedsMaxBatchRequestCount);
  std::vector<BatchPart> requests;
  std::optional<Kind> kind;
  for (const auto& part : parts) {
    auto request = wire::parse_embedded_request(part.content);
    const auto its_kind = request ? kind_of(*request) : std::nullopt;
    if (!its_kind || !is_within(call, request->url)) return wire::Error(Code::kInvalidInput);
    if (kind && *kind != *its_kind) return wire::Error(Code::kAllBatchSubRequestsShouldBeSameApi);
    kind = its_kind;
    std::string id(part.headers.get("Content-ID"));
    if (id.empty()) id = std::to_string(requests.size());
    requests.push_back({std::move(*request), std::move(id)});
  }
  return requests;
}

// Where the batch was sent to is where its parts are sent to. Where that has the account in its
// path, clients may leave the account out of their parts: those name it by host.
std::string host_of_part(const Call& call, std::string_view path) {
  const std::string host(call.headers().get("Host"));
  const std::string account = '/' + call.target.account;
  if (!call.target.path_style || path.starts_with(account + '/')) return host;
  return call.target.account + '.' + host;
}

Task<http::Reply> run_part(Call& call, const wire::EmbeddedRequest& part) {
  http::Request request;
  request.method = part.method;
  request.target = wire::strip_origin(part.url);
  const size_t mark = request.target.find('?');
  request.path = request.target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = request.target.substr(mark + 1);
  request.headers = part.headers;
  const std::string host = host_of_part(call, request.path);
  if (!request.headers.has("Host")) request.headers.add("Host", host);
  if (!request.headers.has("Content-Length")) request.headers.add("Content-Length", "0");
  request.peer = call.request.peer;
  request.secure = call.request.secure;
  NoBody body;
  request.body = &body;
  co_return co_await call.parts->serve_part(request, call.version_text);
}

// As part of the reply; clients that parse parts like replies of their own look for the length.
void write_part(wire::MultipartWriter& writer, const http::Reply& reply, std::string_view id) {
  const auto* text = std::get_if<std::string>(&reply.body);
  const std::string_view body = text != nullptr ? std::string_view(*text) : std::string_view();
  std::string head = reply.head;
  if (!body.empty()) {
    head += "Content-Length: ";
    append_uint(head, body.size());
    head += "\r\n";
  }
  writer.reply(reply.status, http::reason_of(reply), head, body, id);
}

http::Reply refuse(const Call& call, const wire::Error& error) {
  http::Reply refusal(error.status);
  call.service->render(call, error, refusal);
  return refusal;
}

}  // namespace

Outcome blob_batch(Call& call) {
  service::allow_seconds(call, kMaxSeconds);
  auto body = co_await transfer::read_body(call, kMaxBatchBytes);
  if (!body) co_return body.error();
  const auto type = call.headers().get("Content-Type");
  const auto boundary = wire::multipart_boundary(type);
  if (!boundary) co_return wire::invalid_header("Content-Type", type);
  std::string out;
  wire::MultipartWriter writer(out, "batchresponse_" + random_uuid());
  if (const auto parts = parse_batch(call, *body, *boundary)) {
    for (const auto& part : *parts) {
      if (call.deadline.over()) {
        write_part(writer, refuse(call, Code::kOperationTimedOut), part.content_id);
        continue;
      }
      const http::Reply reply = co_await run_part(call, part.request);
      write_part(writer, reply, part.content_id);
    }
  } else {
    write_part(writer, refuse(call, parts.error()), {});
  }
  writer.close();
  http::Reply reply(202);
  reply.header("Content-Type", "multipart/mixed; boundary=" + writer.boundary());
  reply.body = std::move(out);
  co_return reply;
}

}  // namespace kyanite::blob
