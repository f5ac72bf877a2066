#include "server/supervisor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace kyanite::server {
namespace {

// A socket that listens as systemd does, by a name in a folder or an abstract one.
class Listening {
 public:
  explicit Listening(const std::string& name) : descriptor_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), length), 0);
  }
  ~Listening() { close(descriptor_); }
  std::string heard() const {
    std::array<char, 100> bytes{};
    const ssize_t got = recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got < 0 ? "nothing" : std::string(bytes.data(), static_cast<size_t>(got));
  }

 private:
  const int descriptor_;
};

TEST(Supervisor, IsToldBothWays) {
  const std::string id = std::to_string(getpid());
  const std::string path = testing::TempDir() + "kyanite-notify-" + id;
  for (const std::string& name : {path, "@kyanite-notify-" + id}) {
    const Listening listening(name);
    const Supervisor supervisor(name, "", "");
    supervisor.tell("READY=1");
    EXPECT_EQ(listening.heard(), "READY=1") << name;
    EXPECT_EQ(listening.heard(), "nothing") << name;
  }
  unlink(path.c_str());
}

TEST(Supervisor, NobodyThere) {
  for (const auto& name :
       {std::string(), std::string("/nonexistent/notify"), std::string(200, 'a')})
    Supervisor(name, "", "").tell("READY=1");
}

TEST(Supervisor, Watchdog) {
  using std::chrono::milliseconds;
  const std::string own = std::to_string(getpid());
  EXPECT_EQ(Supervisor("s", "30000000", own).watchdog(), milliseconds(30'000));
  EXPECT_EQ(Supervisor("s", "30000000", "").watchdog(), milliseconds(30'000));
  EXPECT_FALSE(Supervisor("s", "30000000", "1").watchdog());
  EXPECT_FALSE(Supervisor("", "30000000", own).watchdog());
  EXPECT_FALSE(Supervisor("s", "", own).watchdog());
  EXPECT_FALSE(Supervisor("s", "soon", own).watchdog());
  EXPECT_FALSE(Supervisor("s", "0", own).watchdog());
}

}  // namespace
}  // namespace kyanite::server
