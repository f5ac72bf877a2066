#include "server/control.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

#include "base/log.h"
#include "os/directory.h"
#include "upkeep/pinned.h"

namespace kyanite::server {

namespace {
constexpr std::chrono::seconds kLinePatience{2};
}

os::Result<std::unique_ptr<Control>> Control::start(engine::Engine& engine,
                                                    const std::string& location) {
  auto listener = os::LocalSocket::listen(location, upkeep::kControlName);
  if (!listener) return Failure{listener.error()};
  return std::unique_ptr<Control>(new Control(engine, location, std::move(*listener)));
}

Control::Control(engine::Engine& engine, std::string location, os::LocalSocket listener)
    : engine_(engine),
      location_(std::move(location)),
      listener_(std::move(listener)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  CHECK(stop_ >= 0);
  thread_ = std::thread([this] { loop(); });
  pthread_setname_np(thread_.native_handle(), "control");
}

Control::~Control() {
  CHECK(eventfd_write(stop_, 1) == 0);
  thread_.join();
  close(stop_);
  (void)os::remove_file(location_ + "/" + upkeep::kControlName);
}

void Control::loop() {
  while (true) {
    pollfd waiting[] = {{stop_, POLLIN, 0},
                        {listener_.descriptor(), POLLIN, 0},
                        {holder_ ? holder_->descriptor() : -1, POLLIN | POLLRDHUP, 0}};
    if (poll(waiting, std::size(waiting), -1) < 0) continue;
    if (waiting[0].revents != 0) return;
    // Says more than it may, or is gone.
    if (waiting[2].revents != 0) {
      pin_.reset();
      holder_.reset();
    }
    if (waiting[1].revents == 0) continue;
    if (auto peer = listener_.accept()) {
      answer(std::move(*peer));
    } else {
      // Too few descriptors, say: it is there again at once.
      std::this_thread::sleep_for(kLinePatience);
    }
  }
}

void Control::answer(os::LocalSocket peer) {
  const auto request = peer.receive_line(kLinePatience);
  if (!request || !*request) return;
  if (**request != upkeep::kPinRequest) {
    (void)peer.send_line("it does not know what is asked, being of another version");
    return;
  }
  if (holder_) {
    (void)peer.send_line("another backup or check is under way");
    return;
  }
  auto pin = engine_.pin();
  if (!pin) {
    log_error("keeping an instant for a backup or check: " + pin.error());
    (void)peer.send_line(pin.error());
    return;
  }
  const std::string& directory = (*pin)->directory();
  const std::string name = directory.substr(directory.rfind('/') + 1);
  if (!peer.send_line(upkeep::kPinned + name).ok()) return;
  pin_ = std::move(*pin);
  holder_ = std::move(peer);
}

}  // namespace kyanite::server
