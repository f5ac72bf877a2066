#include "transfer/upload.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/started.h"
#include "service/deadline.h"
#include "service/storage.h"
#include "transfer/body.h"
#include "transfer/hashes.h"
#include "wire/crc64.h"
#include "wire/structured.h"
#include "wire/version.h"

namespace kyanite::transfer {

using wire::Code;

namespace {

// The framing of a body that is a structured message.
struct Framing {
  uint64_t content_length = 0;
  wire::StructuredParser parser;
};

wire::Result<std::optional<Framing>> decode_framing(const service::Call& call) {
  const auto form = call.headers().find(wire::kStructuredBody);
  if (!form) return std::optional<Framing>();
  if (!wire::is_structured_form(*form)) return wire::invalid_header(wire::kStructuredBody, *form);
  const auto length = call.headers().find(wire::kStructuredContentLength);
  if (!length) return wire::missing_header(wire::kStructuredContentLength);
  const auto number = parse_uint(*length);
  if (!number) return wire::invalid_header(wire::kStructuredContentLength, *length);
  return std::optional<Framing>(Framing{*number, {}});
}

wire::Error framing_error(const wire::StructuredParser& parser, wire::StructuredError error) {
  switch (error) {
    case wire::StructuredError::kMalformed:
      return wire::Error(Code::kInvalidInput).saying("The body is no valid structured message.");
    case wire::StructuredError::kCrc64:
      return wire::crc64_mismatch(parser.sent_crc64(), parser.computed_crc64());
  }
  CHECK(false);
}

// So much of one upload is received, hashed and written at a time, each while the others go on, and
// as much waits to be hashed: what passes from thread to thread should be worth it.
constexpr size_t kChunksTogether = 4;
using Chunks = std::vector<Buffer>;

// One body on its way in.
struct Upload {
  Upload(service::Call& request, bool with_md5, content::CipherPtr cipher)
      : call(request), hashes(with_md5), writer(request.store(), std::move(cipher)) {}

  // Unpacks and hashes the next bytes.
  Task<wire::Result<Chunks>> hash(Chunks chunks) {
    for (auto& chunk : chunks) {
      if (framing) {
        auto content = co_await call.context.workers.run(
            [&] { return framing->parser.feed(chunk.data(), chunk.size()); });
        if (!content) co_return framing_error(framing->parser, content.error());
        chunk.resize(*content);
      }
      uploaded.length += chunk.size();
      if (uploaded.length > most) co_return wire::Error(Code::kRequestBodyTooLarge);
    }
    co_await hashes.update_all(call.context.workers, chunks);
    co_return std::move(chunks);
  }

  // Begins to store what is hashed, once what came before is stored.
  Task<wire::Result<void>> store(Chunks chunks) {
    if (storing) {
      if (auto stored = co_await settle(); !stored) co_return stored;
    }
    if (chunks.front().size() == kChunkBytes) {
      storing.emplace(writer.add_all(std::move(chunks)));
      co_return wire::Result<void>();
    }
    auto stored = co_await writer.add_all(std::move(chunks));
    if (!stored) co_return service::storage_error(stored.error());
    co_return wire::Result<void>();
  }

  // Waits until what was hashed is written. To be done before the end, whatever came of it.
  Task<wire::Result<void>> settle() {
    auto stored = co_await storing->join();
    storing.reset();
    if (!stored) co_return service::storage_error(stored.error());
    co_return wire::Result<void>();
  }

  // What was announced must have come.
  wire::Result<void> check_framing() const {
    if (!framing) return {};
    if (auto ended = framing->parser.finish(); !ended)
      return framing_error(framing->parser, ended.error());
    if (uploaded.length != framing->content_length) {
      return wire::invalid_header(wire::kStructuredContentLength,
                                  call.headers().get(wire::kStructuredContentLength));
    }
    return {};
  }

  service::Call& call;
  Hashes hashes;
  content::Writer writer;
  std::optional<Framing> framing;
  uint64_t most = 0;
  Uploaded uploaded;
  // What is being written, while what follows is hashed.
  std::optional<Started<store::Result<void>>> storing;
};

// Receives the body to its end; while some of it is written, some is hashed and more is received,
// if there is memory for it. An upload that was begun never lacks memory for one chunk, so what was
// sent is not in vain.
class Receiver {
 public:
  explicit Receiver(Upload& upload) : upload_(upload), body_(*upload.call.request.body) {}

  Task<wire::Result<void>> run() {
    const uint64_t one = next_bytes();
    if (!hold_memory(memory_, upload_.call, one))
      co_return busy_error("Too many uploads are being received at the moment.");
    while (true) {
      const uint64_t behind = bytes_behind();
      if (behind > 0 && !hold_memory(memory_, upload_.call, behind + next_bytes())) {
        if (auto taken = co_await take_all(); !taken) co_return taken;
      }
      auto chunk = co_await body_.next();
      if (!chunk || chunk->empty() || upload_.call.deadline.over()) {
        auto taken = co_await take_all();
        if (!chunk) co_return body_error(chunk.error());
        if (taken && !chunk->empty()) co_return wire::Error(Code::kOperationTimedOut);
        co_return taken;
      }
      received_ += chunk->size();
      chunks_.push_back(std::move(*chunk));
      const bool enough = chunks_.size() == kChunksTogether;
      while (first_ && (first_->hashed.is_done() || (enough && !may_hash()))) {
        if (auto stored = co_await store_next(); !stored) co_return stored;
      }
      if (enough || !first_) hash();
    }
  }

  // After a failure: what is hashed must be there until it is.
  bool is_hashing() const { return first_.has_value(); }
  Task<void> wait() {
    for (; first_; next()) std::ignore = co_await first_->hashed.join();
  }

 private:
  // Chunks that are being hashed.
  struct Hashing {
    size_t chunks;
    Started<wire::Result<Chunks>> hashed;
  };

  uint64_t next_bytes() const {
    const auto length = body_.length();
    return length ? std::min<uint64_t>(*length - received_, kChunkBytes) : kChunkBytes;
  }
  // At most so many bytes are in memory.
  uint64_t bytes_behind() const {
    size_t chunks = chunks_.size() + (upload_.storing ? kChunksTogether : 0);
    for (const auto* each : {&first_, &second_}) chunks += *each ? (*each)->chunks : 0;
    return std::min<uint64_t>(chunks * kChunkBytes, received_);
  }
  // Of two parts the second is hashed without a pause. A structured message is unpacked in order,
  // and what has no MD5 is soon hashed.
  bool may_hash() const {
    return !first_ || (!second_ && !upload_.framing && upload_.hashes.with_md5());
  }
  void hash() {
    const size_t count = chunks_.size();
    Hashing begun{count, Started(upload_.hash(std::exchange(chunks_, {})))};
    (first_ ? second_ : first_) = std::move(begun);
  }
  void next() { first_ = std::exchange(second_, std::nullopt); }
  Task<wire::Result<void>> store_next() {
    auto hashed = co_await first_->hashed.join();
    next();
    if (!hashed) co_return hashed.error();
    co_return co_await upload_.store(std::move(*hashed));
  }
  // Until nothing that was received is in memory.
  Task<wire::Result<void>> take_all() {
    while (first_ || !chunks_.empty()) {
      if (!chunks_.empty() && may_hash()) hash();
      if (auto stored = co_await store_next(); !stored) co_return stored;
    }
    if (!upload_.storing) co_return wire::Result<void>();
    co_return co_await upload_.settle();
  }

  Upload& upload_;
  http::BodyReader& body_;
  Budget::Part memory_;
  uint64_t received_ = 0;
  Chunks chunks_;  // Received and not hashed yet.
  std::optional<Hashing> first_;
  std::optional<Hashing> second_;
};

}  // namespace

Task<wire::Result<Uploaded>> receive_body(service::Call& call, uint64_t most, Md5 md5,
                                          content::CipherPtr cipher) {
  auto claims = decode_claims(call, kBodyClaims);
  if (!claims) co_return claims.error();
  auto framing = decode_framing(call);
  if (!framing) co_return framing.error();
  const auto announced = *framing ? (*framing)->content_length : call.request.body->length();
  if (announced && *announced > most) co_return wire::Error(Code::kRequestBodyTooLarge);
  service::allow_transfer(call, announced);

  Upload upload(call,
                md5 == Md5::kAlways || !claims->md5.empty() || call.version < wire::kCrc64Replies,
                std::move(cipher));
  upload.framing = *framing;
  upload.most = most;
  Receiver receiver(upload);
  wire::Result<void> received;
  std::exception_ptr thrown;  // There was no memory.
  try {
    received = co_await receiver.run();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (receiver.is_hashing()) co_await receiver.wait();
  if (upload.storing) {
    auto stored = co_await upload.settle();
    if (received) received = stored;
  }
  if (thrown) std::rethrow_exception(thrown);
  if (!received) co_return received.error();
  if (auto complete = upload.check_framing(); !complete) co_return complete.error();

  Uploaded& uploaded = upload.uploaded;
  uploaded.structured = upload.framing.has_value();
  uploaded.md5 = upload.hashes.md5();
  uploaded.crc64 = upload.hashes.crc64();
  if (auto true_claims = check_claims(*claims, uploaded.md5, uploaded.crc64); !true_claims)
    co_return true_claims.error();
  auto pieces = co_await upload.writer.finish();
  if (!pieces) co_return service::storage_error(pieces.error());
  uploaded.pieces = std::move(*pieces);
  co_return std::move(uploaded);
}

void encode_hash(http::Reply& reply, const Uploaded& uploaded) {
  if (!uploaded.md5.empty()) {
    reply.header("Content-MD5", base64(uploaded.md5));
  } else {
    reply.header("x-ms-content-crc64", wire::crc64_text(uploaded.crc64));
  }
}

void encode_structured(http::Reply& reply, const Uploaded& uploaded) {
  if (uploaded.structured) reply.header(wire::kStructuredBody, wire::kStructuredForm);
}

}  // namespace kyanite::transfer
