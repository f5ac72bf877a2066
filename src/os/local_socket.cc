#include "os/local_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "os/failed.h"

namespace kyanite::os {

namespace {

constexpr int kMostWaiting = 16;

// Addresses are short, paths are not: the directory is named by a descriptor.
class Address {
 public:
  Address(const std::string& directory, const std::string& name)
      : directory_(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address_.sun_family = AF_UNIX;
    const int length = std::snprintf(address_.sun_path, sizeof address_.sun_path,
                                     "/proc/self/fd/%d/%s", directory_, name.c_str());
    usable_ = directory_ >= 0 && length > 0 && length < static_cast<int>(sizeof address_.sun_path);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;
  ~Address() {
    if (directory_ >= 0) close(directory_);
  }
  bool usable() const { return usable_; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static socklen_t size() { return sizeof(sockaddr_un); }

 private:
  const int directory_;
  sockaddr_un address_{};
  bool usable_ = false;
};

}  // namespace

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

LocalSocket& LocalSocket::operator=(LocalSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

LocalSocket::~LocalSocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<LocalSocket> LocalSocket::listen(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const Address address(directory, name);
  if (!address.usable()) return failed("open", directory, errno);
  LocalSocket made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.descriptor_ < 0) return failed("socket", path, errno);
  // Before it has a name, so that nobody else comes in meanwhile.
  if (fchmod(made.descriptor_, 0600) != 0) return failed("chmod", path, errno);
  int bound = bind(made.descriptor_, address.get(), Address::size());
  if (bound != 0 && errno == EADDRINUSE) {
    if (unlink(path.c_str()) != 0) return failed("remove", path, errno);
    bound = bind(made.descriptor_, address.get(), Address::size());
  }
  if (bound != 0) return failed("bind", path, errno);
  if (::listen(made.descriptor_, kMostWaiting) != 0) return failed("listen", path, errno);
  return made;
}

Result<LocalSocket> LocalSocket::connect(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const Address address(directory, name);
  if (!address.usable()) return failed("open", directory, errno);
  LocalSocket made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.descriptor_ < 0) return failed("socket", path, errno);
  if (::connect(made.descriptor_, address.get(), Address::size()) != 0)
    return failed("connect", path, errno);
  return made;
}

Result<LocalSocket> LocalSocket::accept() const {
  LocalSocket peer(accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.descriptor_ < 0) return failed("accept", "a local socket", errno);
  return peer;
}

Result<void> LocalSocket::send_line(std::string_view line) const {
  std::string text(line.substr(0, kMostLine - 1));
  text += '\n';
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t sent = send(descriptor_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return failed("send", "a local socket", errno);
    done += static_cast<size_t>(sent);
  }
  return {};
}

Result<std::optional<std::string>> LocalSocket::receive_line(
    std::chrono::milliseconds patience) const {
  std::string line;
  while (line.size() < kMostLine) {
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(patience.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return failed("poll", "a local socket", errno);
    if (ready == 0) return std::optional<std::string>();
    char byte = 0;
    const ssize_t count = recv(descriptor_, &byte, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != ECONNRESET) return failed("receive", "a local socket", errno);
    if (count <= 0) return std::optional<std::string>();
    if (byte == '\n') return std::optional<std::string>(std::move(line));
    line += byte;
  }
  return std::optional<std::string>();
}

bool LocalSocket::is_open() const {
  pollfd waiting{descriptor_, POLLIN | POLLRDHUP, 0};
  if (poll(&waiting, 1, 0) <= 0) return true;
  return (waiting.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0;
}

}  // namespace kyanite::os
