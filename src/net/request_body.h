// The body of the request being served, pulled from its connection: what the head's arrival brought
// along first, then straight from the socket into the caller's block.
#pragma once

#include <cstdint>
#include <optional>

#include "http/chunked.h"
#include "http/message.h"
#include "http/parser.h"
#include "net/connection.h"
#include "net/inbox.h"

namespace kyanite::net {

class RequestBody final : public http::BodyReader {
 public:
  // A body left unread is received and dropped up to this length to keep the connection; beyond,
  // closing is cheaper.
  static constexpr uint64_t kMaxSkippedBytes = 1024 * 1024;

  // `inbox` has the head consumed and held.
  RequestBody(Connection& connection, Inbox& inbox, const http::Head& head);

  Task<Result<Buffer, http::BodyError>> next() override;
  std::optional<uint64_t> length() const override;

  bool finished() const;
  bool disconnected() const { return failure_ == http::BodyError::kDisconnected; }
  // The next request can be reached through what is left of this body.
  bool skippable() const;
  // Receives and drops the rest; false when that fails or is too much.
  Task<bool> skip();

 private:
  http::BodyError fail(http::BodyError why);
  // Data bytes that follow without framing in between.
  uint64_t run_left() const;
  void pass(uint64_t count);
  bool take_from_inbox(Buffer& out);
  bool decode_framing();
  Task<bool> send_continue();
  Task<bool> receive(Buffer& out);
  Task<bool> wait_to_receive(Progress::Step wanted);

  Connection& connection_;
  Inbox& inbox_;
  const http::Framing framing_;
  const uint64_t content_length_;
  bool continue_due_;  // The peer waits for "100 Continue".
  uint64_t length_left_;
  http::ChunkedDecoder chunks_;
  std::optional<http::BodyError> failure_;
  uint64_t since_turn_ = 0;
  uint64_t since_wait_ = 0;
  Patience patience_;
};

}  // namespace kyanite::net
