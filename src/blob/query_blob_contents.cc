// Query Blob Contents: POST /{container}/{blob}?comp=query
#include <algorithm>
#include <utility>

#include "base/budget.h"
#include "base/random.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/query_request.h"
#include "service/deadline.h"
#include "sql/query.h"
#include "transfer/body.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

// The expression, with each of its characters escaped, and all the rest.
constexpr size_t kMaxQueryBody = 8 * sql::kMaxExpressionBytes;
// As many run at once at most; each may hold a few megabytes (sql/limits.h).
constexpr uint64_t kMaxRunning = 64;
// A query of a large blob goes on while its result is received.
constexpr int64_t kMaxQuerySeconds = 600;

// The places of those that run, which peers and accounts share.
Budget& running() {
  static auto* places = new Budget(kMaxRunning);  // Never destroyed: queries may end late.
  return *places;
}

// The frames of the result, made as they are sent: the content is read as far as it is needed for
// the next ones.
class QueryStream final : public http::BodyStream {
 public:
  QueryStream(const Call& call, Budget::Part turn, std::unique_ptr<sql::Query> query,
              std::unique_ptr<content::Reader> reader)
      : turn_(std::move(turn)),
        hold_(call.hold),
        workers_(call.context.workers),
        deadline_(call.deadline),
        query_(std::move(query)),
        reader_(std::move(reader)) {}

  const std::optional<sql::SyntaxError>& refusal() const { return query_->refusal(); }

  // Goes on until there is something to send, or the end.
  Task<store::Result<void>> prepare_next() {
    while (output_.empty() && query_->needs() != sql::Query::Needs::kNothing) {
      if (deadline_.over()) {
        query_->fail({"OperationTimedOut", "The query took longer than it may."});
      } else if (auto moved = co_await advance(); !moved) {
        co_return moved.error();
      }
      output_ = query_->take_output();
    }
    co_return store::Result<void>();
  }

  Task<Result<os::Bytes, http::StreamError>> next() override {
    if (auto prepared = co_await prepare_next(); !prepared) co_return http::StreamError::kFailed;
    co_return os::Bytes(Buffer::copy_of(std::exchange(output_, {})));
  }

 private:
  Task<store::Result<void>> advance() {
    if (query_->needs() == sql::Query::Needs::kInput) {
      auto bytes = co_await reader_->next(false);
      if (!bytes) co_return bytes.error();
      const auto& input = std::get<Buffer>(*bytes);
      if (input.empty()) {
        query_->end_input();
      } else {
        query_->add_input(input.view());
      }
    }
    if (query_->needs() == sql::Query::Needs::kStep) {
      const auto step = [this] {
        query_->step();
        return true;
      };
      co_await workers_.run(step);
    }
    co_return store::Result<void>();
  }

  const Budget::Part turn_;
  const store::Hold hold_;  // The bytes stay until the last one is read.
  Workers& workers_;
  const Deadline deadline_;
  const std::unique_ptr<sql::Query> query_;
  const std::unique_ptr<content::Reader> reader_;
  std::string output_;
};

wire::Error refused(const sql::SyntaxError& error) {
  return wire::Error(Code::kErrorProcessingQueryExpression).saying(error.message);
}

// The type and encoding of the content are not those of the result.
FoundBlob without_content_headers(FoundBlob found) {
  auto blob = std::make_shared<Blob>(*found.blob);
  blob->http = {};
  found.blob = std::move(blob);
  return found;
}

// One attempt; a conflict when the blob was replaced between its head and its content being read.
Outcome try_query(Call& call, const QueryRequest& request) {
  auto found = co_await read_blob(call, concurrency::kAcceptsAll, KeyUse::kNeeds);
  if (!found) co_return found.error();
  const Blob& blob = *found->blob;
  if (blob.type != BlobType::kBlock) co_return wire::Error(Code::kInvalidBlobType);
  if (blob.tier == Tier::kArchive) co_return wire::Error(Code::kBlobArchived);
  auto query = sql::Query::prepare(request.expression, {.input = request.input,
                                                        .output = request.output,
                                                        .total_bytes = blob.content.length,
                                                        .now = call.now,
                                                        .sync = random_bytes(sql::kAvroSyncBytes)});
  if (!query) co_return refused(query.error());
  Budget::Part turn(running(), call.request.peer, call.target.account);
  if (!turn.resize(1)) co_return wire::Error(Code::kServerBusy);
  const content::Place place = found->place.content();
  const store::Guard head{head_key(found->place, found->row), found->record};
  auto reader = co_await content::Reader::open(call.store(), place, blob.content, 0,
                                               blob.content.length, head, cipher_of(found->key));
  if (!reader) co_return service::storage_error(reader.error());
  auto stream =
      std::make_unique<QueryStream>(call, std::move(turn), std::move(*query), std::move(*reader));
  // What the data make of the expression is known before the reply begins.
  if (auto begun = co_await stream->prepare_next(); !begun)
    co_return service::storage_error(begun.error());
  if (stream->refusal()) co_return refused(*stream->refusal());
  http::Reply reply(200);
  // Where there are directories, the service says nothing of leases here.
  const bool tells_lease = !found->place.is_apart();
  encode_properties(reply, call, without_content_headers(*found), tells_lease);
  if (!reply.has_header("Content-Type")) reply.header("Content-Type", "avro/binary");
  reply.body = std::move(stream);
  co_return std::move(reply);
}

}  // namespace

Outcome query_blob_contents(Call& call) {
  service::allow_seconds(call, kMaxQuerySeconds);
  auto body = co_await transfer::read_body(call, kMaxQueryBody);
  if (!body) co_return body.error();
  auto request = parse_query_request(*body);
  if (!request) co_return request.error();
  auto query = [&] { return try_query(call, *request); };
  co_return co_await service::answer_whole(call, query);
}

}  // namespace kyanite::blob
