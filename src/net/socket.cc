#include "net/socket.h"

#include <sys/epoll.h>

#include <algorithm>

#include "base/check.h"

namespace kyanite::net {

Socket::Socket(Loop& loop, Descriptor descriptor)
    : loop_(loop), descriptor_(std::move(descriptor)) {
  loop_.watch(descriptor_.number(), this);
}

Socket::~Socket() {
  CHECK(!read_.waiter.coroutine && !write_.waiter.coroutine);
  loop_.timers_.remove(read_.waiter);
  loop_.timers_.remove(write_.waiter);
}

void Socket::became_ready(uint32_t events) {
  constexpr uint32_t kBroken = EPOLLHUP | EPOLLERR;
  if ((events & (EPOLLRDHUP | kBroken)) != 0) peer_ended_ = true;
  if ((events & (EPOLLIN | EPOLLRDHUP | kBroken)) != 0) {
    read_.ready = true;
    if (read_.waiter.coroutine) loop_.wake(read_.waiter, Wake::kReady);
  }
  if ((events & (EPOLLOUT | kBroken)) != 0) {
    write_.ready = true;
    if (write_.waiter.coroutine) loop_.wake(write_.waiter, Wake::kReady);
  }
}

int64_t Socket::waited_ms() const {
  int64_t longest = -1;
  for (const Side* each : {&read_, &write_}) {
    if (each->waiter.coroutine) longest = std::max(longest, loop_.now_ms() - each->since_ms);
  }
  return longest;
}

void Socket::interrupt() {
  interrupted_ = true;
  if (read_.waiter.coroutine) loop_.wake(read_.waiter, Wake::kInterrupted);
  if (write_.waiter.coroutine) loop_.wake(write_.waiter, Wake::kInterrupted);
}

}  // namespace kyanite::net
