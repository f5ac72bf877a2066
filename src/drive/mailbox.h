// The way to a connection from any thread. It may outlive the connection.
#pragma once

#include <functional>

#include "base/executor.h"
#include "base/mutex.h"

namespace kyanite::drive {

class Connection;

class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  // A job for the connection; null if it ended before the job's turn came.
  using Job = std::function<void(Connection*)>;

  Mailbox(Executor& loop, Connection& connection) : loop_(loop), connection_(&connection) {}

  // Runs the job on the connection's loop, soon; at once and with null when it has ended.
  void post(Job job);

  // Whether this is the connection's loop.
  bool is_here() const { return Executor::current() == &loop_; }
  // The same as post(), but at once when this is the connection's loop: before anything else is
  // sent there.
  void run(const Job& job);

  // For the connection, on its loop, before it dies. Jobs posted before find null.
  void close();

 private:
  // Shows whoever resumes there what is left of the connection.
  static Detached deliver(std::shared_ptr<Mailbox> self, Job job);
  Connection* connection();

  Executor& loop_;  // Lives as long as the connection.
  Mutex mutex_;
  Connection* connection_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::drive
