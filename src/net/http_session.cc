#include "net/http_session.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "http/parser.h"
#include "http/serialize.h"
#include "net/inbox.h"
#include "net/reply_writer.h"
#include "net/request_body.h"

namespace kyanite::net {

namespace {
// What a request needs while it is served. An idle connection has none: the loop's connections take
// turns with a few.
struct Workspace {
  Inbox inbox;
  http::HeadParser parser;
  std::string reply_head;
  Budget::Part grown;  // Of an inbox that has grown.
};

// Spare workspaces of this thread, which is one event loop.
class WorkspacePool {
 public:
  std::unique_ptr<Workspace> take() {
    if (spare_.empty()) return std::make_unique<Workspace>();
    auto workspace = std::move(spare_.back());
    spare_.pop_back();
    return workspace;
  }
  void give(std::unique_ptr<Workspace> workspace) {
    if (spare_.size() < kMaxSpare && !workspace->inbox.grown())
      spare_.push_back(std::move(workspace));
  }

 private:
  static constexpr size_t kMaxSpare = 64;
  std::vector<std::unique_ptr<Workspace>> spare_;
};
thread_local WorkspacePool workspaces;

// Receiving into less than this is not worth a system call.
constexpr size_t kLeastRoom = 1024;

constexpr http::HeadError kNoMemory{503, "too many long requests"};

class HttpSession {
 public:
  HttpSession(Connection& connection, http::Handler& handler)
      : connection_(connection), handler_(handler) {}

  Task<void> run();

 private:
  enum class Arrival { kRequest, kRefused, kGone };

  Task<Arrival> receive_head();
  Arrival refuse(http::HeadError why);
  bool make_room();
  Task<bool> serve_request();
  Task<void> send_refusal();

  Connection& connection_;
  http::Handler& handler_;
  std::unique_ptr<Workspace> work_;
  http::HeadError refused_;
};

HttpSession::Arrival HttpSession::refuse(http::HeadError why) {
  refused_ = why;
  return Arrival::kRefused;
}

// Room for the rest of a head, or behind a complete one for the framing of a chunked body. False
// when there is no memory for more.
bool HttpSession::make_room() {
  const bool grown = work_->inbox.grown();
  work_->inbox.make_room();
  work_->parser.reset();
  if (grown || !work_->inbox.grown()) return true;
  work_->grown = Budget::Part(body_memory(), connection_.peer());
  return work_->grown.resize(Inbox::kLargeBytes);
}

// Waits for the next request and reads its head; gives the workspace away while there is nothing of
// it.
Task<HttpSession::Arrival> HttpSession::receive_head() {
  int64_t deadline = connection_.now_ms() + connection_.shard().timeouts.idle.count();
  bool begun = false;
  while (true) {
    if (!work_) work_ = workspaces.take();
    Inbox& inbox = work_->inbox;
    if (!inbox.unread().empty()) {
      const auto state = work_->parser.parse(inbox.unread());
      if (state == http::HeadParser::State::kError) co_return refuse(work_->parser.error());
      if (state == http::HeadParser::State::kDone) {
        const http::Head& head = work_->parser.head();
        if (head.framing != http::Framing::kChunked ||
            inbox.room_behind(head.bytes) >= kLeastRoom) {
          co_return Arrival::kRequest;
        }
        if (!make_room()) co_return refuse(kNoMemory);
        continue;
      }
      if (inbox.room() < kLeastRoom && !make_room()) co_return refuse(kNoMemory);
      if (!begun) deadline = connection_.now_ms() + connection_.shard().timeouts.head.count();
      begun = true;
    }
    const Progress progress = inbox.receive(connection_);
    if (progress.step == Progress::kMoved) continue;
    if (progress.step == Progress::kEnd || progress.step == Progress::kFailed) {
      co_return Arrival::kGone;
    }
    if (begun) {
      const Wake wake = co_await connection_.wait(progress.step, deadline);
      if (wake == Wake::kTimedOut) co_return refuse({408, "the request head took too long"});
      if (wake != Wake::kReady) co_return Arrival::kGone;
    } else {
      workspaces.give(std::move(work_));
      const Wake wake = co_await connection_.wait_idle(progress.step, deadline);
      if (wake != Wake::kReady) co_return Arrival::kGone;
    }
  }
}

// False when the connection has to end.
Task<bool> HttpSession::serve_request() {
  http::Head& head = work_->parser.head();
  Inbox& inbox = work_->inbox;
  inbox.consume(head.bytes);
  inbox.hold();
  RequestBody body(connection_, inbox, head);
  head.request.body = &body;
  head.request.peer = connection_.peer();
  head.request.secure = connection_.secure();
  connection_.shard().requests.add(1);
  connection_.begin_request();

  http::Reply reply = co_await handler_.serve(head.request);
  if (body.disconnected()) co_return false;
  const http::BodyPlan plan = http::plan_body(reply, head);
  const bool keep = head.keep_alive && !reply.close && !connection_.draining() &&
                    plan.delimiter != http::BodyPlan::kConnection && body.skippable();
  work_->reply_head.clear();
  http::append_head(work_->reply_head, reply, plan, head, keep);
  if (!co_await send_reply(connection_, reply, plan, work_->reply_head)) {
    connection_.cut();  // An orderly end could pass for the reply's end.
    co_return false;
  }

  const bool at_next_request = keep && (body.finished() || co_await body.skip());
  if (!at_next_request) {
    if (!body.finished() || !inbox.unread().empty()) co_await connection_.linger();
    co_return false;
  }
  inbox.release();
  work_->parser.reset();
  connection_.end_request();
  co_return true;
}

Task<void> HttpSession::send_refusal() {
  std::string reply = http::refusal(refused_);
  iovec piece{reply.data(), reply.size()};
  if (co_await connection_.write_all({&piece, 1})) co_await connection_.linger();
}

Task<void> HttpSession::run() {
  while (true) {
    const Arrival arrival = co_await receive_head();
    if (arrival == Arrival::kGone) co_return;
    if (arrival == Arrival::kRefused) {
      co_await send_refusal();
      co_return;
    }
    if (!co_await serve_request()) co_return;
    // Whoever sends many requests at once does not keep the others waiting.
    if (!work_->inbox.unread().empty()) co_await connection_.shard().loop.turn();
  }
}
}  // namespace

Task<void> serve_http(Connection& connection, http::Handler& handler) {
  HttpSession session(connection, handler);
  co_await session.run();
}

}  // namespace kyanite::net
