#include "drive/mailbox.h"

#include <memory>
#include <utility>

namespace kyanite::drive {

void Mailbox::post(Job job) {
  if (connection() == nullptr) return job(nullptr);
  deliver(shared_from_this(), std::move(job));
}

void Mailbox::run(const Job& job) {
  Connection* there = connection();
  // On its loop the connection cannot end meanwhile.
  if (there == nullptr || is_here()) return job(there);
  post(job);
}

Connection* Mailbox::connection() {
  MutexLock lock(mutex_);
  return connection_;
}

void Mailbox::close() {
  MutexLock lock(mutex_);
  connection_ = nullptr;
}

Detached Mailbox::deliver(std::shared_ptr<Mailbox> self, Job job) {
  // The loop is there as long as the connection: with the mutex held neither can go.
  struct Move {
    Mailbox& mailbox;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine) {
      MutexLock lock(mailbox.mutex_);
      if (mailbox.connection_ == nullptr) return false;
      mailbox.loop_.post(coroutine);
      return true;
    }
    void await_resume() const noexcept {}
  };
  co_await Move{*self};
  // On the loop, where alone the connection ends, or it has ended already.
  job(self->connection());
}

}  // namespace kyanite::drive
