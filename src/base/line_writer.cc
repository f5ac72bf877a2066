#include "base/line_writer.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace kyanite {

namespace {
// As many whole lines as a pipe takes in one piece, so that no reader and no end of this process
// finds half a line; of a longer line, its next part.
std::string_view next_piece(std::string_view text) {
  if (text.size() <= PIPE_BUF) return text;
  const size_t end = text.rfind('\n', PIPE_BUF - 1);
  return text.substr(0, end == std::string_view::npos ? PIPE_BUF : end + 1);
}

// Signals are for those who wait for them, and a closed pipe is an error like others.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // Signals of the thread's own doing are not somebody else's to handle: blocked, they end the
    // process. A system call filter sends one.
    for (int own : {SIGSYS, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};
}  // namespace

LineWriter::LineWriter(int descriptor, TellGap tell_gap)
    : descriptor_(descriptor),
      tell_gap_(tell_gap),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const SignalsBlocked inherited_by_the_thread;
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "log");
}

LineWriter::~LineWriter() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  eventfd_write(stop_event_, 1);
  thread_.join();
  close(stop_event_);
}

void LineWriter::write(std::string_view line) {
  MutexLock lock(mutex_);
  if (full_ || queued_.size() + line.size() > kMaxQueuedBytes) {
    full_ = true;
    dropped_.fetch_add(1, std::memory_order_relaxed);
  } else {
    queued_ += line;
  }
  if (!writing_) work_.notify_one();
}

bool LineWriter::flush(std::chrono::milliseconds longest) {
  MutexLock lock(mutex_);
  return idle_.wait_for(lock, longest,
                        [this]() REQUIRES(mutex_) { return nothing_to_do() && !writing_; });
}

LineWriter::Batch LineWriter::take_batch() {
  Batch batch;
  batch.lines = std::exchange(queued_, {});
  batch.gap_last = std::exchange(full_, false);
  const uint64_t missing = dropped() - told_;
  if (missing > 0) batch.gap = tell_gap_(missing);
  return batch;
}

// Returns how many of the lines could not be written.
uint64_t LineWriter::write_lines(std::string_view lines) {
  if (write_out(lines)) return 0;
  return static_cast<uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

void LineWriter::loop() {
  MutexLock lock(mutex_);
  while (true) {
    work_.wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || !nothing_to_do(); });
    if (stopping_) return;
    const uint64_t missing = dropped();
    const Batch batch = take_batch();
    writing_ = true;
    lock.unlock();
    uint64_t lost = batch.gap_last ? write_lines(batch.lines) : 0;
    const bool told = write_lines(batch.gap) == 0;
    if (!batch.gap_last) lost = write_lines(batch.lines);
    lock.lock();
    writing_ = false;
    if (told) told_ = missing;
    dropped_.fetch_add(lost, std::memory_order_relaxed);
    if (nothing_to_do()) idle_.notify_all();
  }
}

bool LineWriter::wait_for_room() {
  pollfd either[] = {{descriptor_, POLLOUT, 0}, {stop_event_, POLLIN, 0}};
  while (poll(either, 2, -1) < 0 && errno == EINTR) continue;
  return either[1].revents == 0;
}

// False when the rest cannot be written, or nobody takes it and this ends.
bool LineWriter::write_out(std::string_view& rest) {
  while (!rest.empty()) {
    if (!wait_for_room()) return false;
    const std::string_view piece = next_piece(rest);
    const ssize_t written = ::write(descriptor_, piece.data(), piece.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) rest.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace kyanite
