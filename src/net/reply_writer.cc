#include "net/reply_writer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/log.h"

namespace kyanite::net {

namespace {
// How much one reply may send before the loop's other connections have their turn; a short piece
// counts as a longer one.
constexpr uint64_t kSentATurn = 1024 * 1024;
constexpr uint64_t kPieceBytes = 16 * 1024;

iovec piece_of(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()),
          bytes.size()};  // iovec has no const; sending only reads.
}

Task<bool> send_piece(Connection& connection, std::string_view prefix, os::Bytes bytes) {
  if (auto* slice = std::get_if<os::FileSlice>(&bytes)) {
    iovec piece = piece_of(prefix);
    const bool sent = co_await connection.write_all({&piece, 1}, true);
    co_return sent&& co_await connection.send_file(std::move(*slice));
  }
  iovec pieces[] = {piece_of(prefix), piece_of(std::get<Buffer>(bytes).view())};
  co_return co_await connection.write_all(pieces);
}

// `prefix` collects what goes out before the next piece: the head, and around each chunk its size
// and line end.
Task<bool> send_stream(Connection& connection, http::BodyStream& stream, const http::BodyPlan& plan,
                       std::string& prefix) {
  const bool chunked = plan.delimiter == http::BodyPlan::kChunked;
  const bool counted = plan.delimiter == http::BodyPlan::kLength;
  uint64_t sent = 0;
  uint64_t since_turn = 0;
  while (true) {
    auto bytes = co_await stream.next();
    if (!bytes) co_return false;
    const uint64_t size = os::size_of(*bytes);
    if (size == 0) break;
    sent += size;
    if (counted && sent > plan.length) break;
    if (chunked) http::append_chunk_line(prefix, size);
    if (!co_await send_piece(connection, prefix, std::move(*bytes))) co_return false;
    prefix.assign(chunked ? http::kChunkEnd : "");
    since_turn += std::max(size, kPieceBytes);
    if (since_turn >= kSentATurn) {
      since_turn = 0;
      co_await connection.shard().loop.turn();
    }
  }
  if (counted && sent != plan.length) {
    log_error("a reply's stream does not have the length announced; the connection is cut");
    co_return false;
  }
  if (chunked) prefix.append(http::kLastChunk);
  iovec piece = piece_of(prefix);
  co_return co_await connection.write_all({&piece, 1});
}
}  // namespace

Task<bool> send_reply(Connection& connection, http::Reply& reply, const http::BodyPlan& plan,
                      std::string& head) {
  auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply.body);
  if (plan.send && stream != nullptr) {
    co_return co_await send_stream(connection, **stream, plan, head);
  }
  Loop& loop = connection.shard().loop;
  if (loop.crowded()) co_await loop.turn();
  iovec pieces[] = {piece_of(head), piece_of(plan.send ? http::body_in_memory(reply) : "")};
  co_return co_await connection.write_all(pieces);
}

}  // namespace kyanite::net
