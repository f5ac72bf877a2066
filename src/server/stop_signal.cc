#include "server/stop_signal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "base/check.h"
#include "base/log.h"

namespace kyanite::server {

namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

void block_stop_signals() {
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void stop_with_parent(int parent) {
  CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM) == 0);
  if (getppid() != parent) kill(getpid(), SIGTERM);
}

int wait_for_stop_signal() {
  const sigset_t signals = stop_signals();
  int signal = 0;
  CHECK(sigwait(&signals, &signal) == 0);
  return signal;
}

void end_at_next_stop_signal() {
  std::thread([] {
    const int signal = wait_for_stop_signal();
    flush_log();
    _exit(128 + signal);
  }).detach();
}

}  // namespace kyanite::server
