#include "drive/exchange.h"

#include <utility>

#include "drive/connection.h"
#include "drive/limits.h"

namespace kyanite::drive {

Exchange::Exchange(Connection& on, Chain& part_of, size_t index)
    : connection(on),
      header(part_of.requests[index].message.header),
      message(part_of.requests[index].message.bytes),
      occasion(on.drive().store, on.drive().locks, on.drive().clock),
      chain_(part_of),
      incoming_(part_of.requests[index]) {
  occasion.deadline = Deadline(on.drive().clock, kRequestSeconds);
  if (part_of.ended) cancelled_ = Cancelled::kEnded;
  connection.running_.push_back(this);
  place = connection.running_.size() - 1;
}

Exchange::~Exchange() {
  if (counted_at_ != nullptr) counted_at_->order.leave(counted_);
  for (const auto& open : work_) --open->at_work;
  auto& running = connection.running_;
  running.back()->place = place;
  std::swap(running[place], running.back());
  running.pop_back();
  if (async_id_ == 0) return;
  --connection.waiting_;
  connection.drive().metrics.waiting.fetch_sub(1, std::memory_order_relaxed);
}

std::shared_ptr<Open> Exchange::find_open(const smb::FileId& named) {
  auto open = session->find_open(named == smb::kPreviousFile ? chain_.file : named);
  if (open == nullptr || open->tree != tree) return nullptr;
  if (open->file.ended()) {
    // Its client learns it by this.
    session->remove_open(*open);
    connection.drive().metrics.opens.fetch_sub(1, std::memory_order_relaxed);
    release(connection.drive(), *open);
    return nullptr;
  }
  opened(open->id);
  work_with(open);
  open->used = true;
  if (counted_at_ == nullptr && connection.dialect() >= smb::Dialect::kSmb300) {
    counted_at_ = open;
    counted_ = open->order.enter(header.channel_sequence(), header.has(smb::header_flag::kReplay),
                                 may_change_);
  }
  return open;
}

void Exchange::opened(const smb::FileId& id) { chain_.file = id; }

void Exchange::work_with(const std::shared_ptr<Open>& open) {
  ++open->at_work;
  work_.push_back(open);
}

Exchange::Async Exchange::go_async() {
  if (async_id_ != 0) return Async::kTold;
  if (!is_last()) return Async::kInChain;
  if (connection.waiting_ >= kMaxWaiting) return Async::kTooMany;
  // Others than CREATE wait for however long, and what they came in stays as long.
  if (header.command != smb::Command::kCreate && chain_.frame.capacity() > kMaxWaitingFrameBytes)
    return Async::kTooMany;
  ++connection.waiting_;
  connection.drive().metrics.waiting.fetch_add(1, std::memory_order_relaxed);
  async_id_ = header.message_id;
  connection.send_interim(*this);
  return Async::kTold;
}

const Agreement& Exchange::agreement() const {
  return chain_.origin ? chain_.origin->agreement : *connection.agreement;
}

void Exchange::drop(std::string_view why) {
  if (!chain_.origin) return connection.drop(why);
  chain_.origin->connection->post([text = std::string(why)](Connection* there) {
    if (there != nullptr) there->drop(text);
  });
}

void Exchange::when_cancelled(std::function<void()> wake) {
  wake_ = std::move(wake);
  if (cancelled_ && wake_) std::exchange(wake_, nullptr)();
}

void Exchange::cancel(Cancelled why) {
  if (cancelled_) return;
  cancelled_ = why;
  if (wake_) std::exchange(wake_, nullptr)();
}

Reply refuse(const Exchange& exchange, smb::Status status, std::string_view data) {
  smb::ErrorReply body;
  body.in_context = exchange.connection.dialect() == smb::Dialect::kSmb311;
  body.data = data;
  return reply(exchange, body, status);
}

}  // namespace kyanite::drive
