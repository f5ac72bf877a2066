#include "transfer/upload.h"

#include <algorithm>
#include <optional>

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

// One body on its way in.
struct Upload {
  Upload(service::Call& request, bool with_md5, content::CipherPtr cipher)
      : call(request), hashes(with_md5), writer(request.store(), std::move(cipher)) {}

  // Unpacks, hashes and stores the next bytes.
  Task<wire::Result<void>> take(Buffer chunk) {
    if (framing) {
      auto content = co_await call.context.workers.run(
          [&] { return framing->parser.feed(chunk.data(), chunk.size()); });
      if (!content) co_return framing_error(framing->parser, content.error());
      chunk.resize(*content);
    }
    uploaded.length += chunk.size();
    if (uploaded.length > most) co_return wire::Error(Code::kRequestBodyTooLarge);
    co_await hashes.update(call.context.workers, chunk.view());
    if (storing) {
      if (auto stored = co_await settle(); !stored) co_return stored;
    }
    if (chunk.size() == kChunkBytes) {
      storing.emplace(writer.add(std::move(chunk)));
      co_return wire::Result<void>();
    }
    auto added = co_await writer.add(std::move(chunk));
    if (!added) co_return service::storage_error(added.error());
    co_return wire::Result<void>();
  }

  // Waits until what was hashed is written. To be done before the end, whatever came of it.
  Task<wire::Result<void>> settle() {
    auto added = co_await storing->join();
    storing.reset();
    if (!added) co_return service::storage_error(added.error());
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
  // A full chunk being written, while the next one is hashed.
  std::optional<Started<store::Result<void>>> storing;
};

using Taking = std::optional<Started<wire::Result<void>>>;

Task<wire::Result<void>> join(Taking& taking) {
  auto taken = co_await taking->join();
  taking.reset();
  co_return taken;
}

// Receives the body to its end; while one chunk is written, one is hashed and the next is received,
// if there is memory for them. An upload that was begun never lacks memory for one, so what was
// sent is not in vain.
Task<wire::Result<void>> receive_all(Upload& upload) {
  http::BodyReader& body = *upload.call.request.body;
  uint64_t received = 0;
  const auto length = body.length();
  const auto next_bytes = [&]() -> uint64_t {
    return length ? std::min<uint64_t>(*length - received, kChunkBytes) : kChunkBytes;
  };
  Budget::Part memory;
  const uint64_t one = next_bytes();
  if (!hold_memory(memory, upload.call, one))
    co_return busy_error("Too many uploads are being received at the moment.");
  Taking taking;
  while (true) {
    const uint64_t behind = (taking ? one : 0) + (upload.storing ? one : 0);
    if (behind > 0 && !hold_memory(memory, upload.call, behind + next_bytes())) {
      if (taking) {
        if (auto taken = co_await join(taking); !taken) co_return taken;
      }
      if (upload.storing) {
        if (auto stored = co_await upload.settle(); !stored) co_return stored;
      }
    }
    auto chunk = co_await body.next();
    if (taking) {
      if (auto taken = co_await join(taking); !taken) co_return taken;
    }
    if (!chunk) co_return body_error(chunk.error());
    if (upload.call.deadline.over()) co_return wire::Error(Code::kOperationTimedOut);
    if (chunk->empty()) co_return wire::Result<void>();
    received += chunk->size();
    taking.emplace(upload.take(std::move(*chunk)));
  }
}

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
  auto received = co_await receive_all(upload);
  if (upload.storing) {
    auto stored = co_await upload.settle();
    if (received) received = stored;
  }
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
