#include "os/local_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "os/directory.h"

namespace kyanite::os {

namespace {

constexpr std::chrono::seconds kPatience{10};

class LocalSocketTest : public testing::Test {
 protected:
  LocalSocketTest() {
    CHECK(mkdtemp(root_) != nullptr);
    // Longer than the address of a socket may be.
    directory_ = std::string(root_) + "/" + std::string(150, 'x');
    CHECK(make_directories(directory_).ok());
  }
  ~LocalSocketTest() override { std::filesystem::remove_all(root_); }

  static LocalSocket accept(const LocalSocket& listener) {
    pollfd waiting{listener.descriptor(), POLLIN, 0};
    CHECK(poll(&waiting, 1, 10'000) == 1);
    auto peer = listener.accept();
    CHECK(peer.ok());
    return std::move(*peer);
  }

  char root_[32] = "/tmp/kyanite-socket-XXXXXX";
  std::string directory_;
};

TEST_F(LocalSocketTest, CarriesLinesBothWays) {
  auto listener = LocalSocket::listen(directory_, "control");
  ASSERT_TRUE(listener.ok()) << listener.error().what;
  auto client = LocalSocket::connect(directory_, "control");
  ASSERT_TRUE(client.ok()) << client.error().what;
  std::optional<LocalSocket> peer = accept(*listener);
  ASSERT_TRUE(client->send_line("pin").ok());
  EXPECT_EQ(*peer->receive_line(kPatience), "pin");
  ASSERT_TRUE(peer->send_line("pinned x").ok());
  EXPECT_EQ(*client->receive_line(kPatience), "pinned x");
  EXPECT_TRUE(client->is_open());
  peer.reset();
  EXPECT_FALSE(client->is_open());
  EXPECT_EQ(*client->receive_line(kPatience), std::nullopt);
}

TEST_F(LocalSocketTest, IsForItsOwnerAlone) {
  auto listener = LocalSocket::listen(directory_, "control");
  ASSERT_TRUE(listener.ok());
  struct stat found {};
  ASSERT_EQ(stat((directory_ + "/control").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

TEST_F(LocalSocketTest, TakesThePlaceOfOneThatWasLeftBehind) {
  { ASSERT_TRUE(LocalSocket::listen(directory_, "control").ok()); }
  EXPECT_FALSE(LocalSocket::connect(directory_, "control").ok());
  auto again = LocalSocket::listen(directory_, "control");
  ASSERT_TRUE(again.ok()) << again.error().what;
  EXPECT_TRUE(LocalSocket::connect(directory_, "control").ok());
}

TEST_F(LocalSocketTest, SilenceAndEndlessLinesEnd) {
  auto listener = LocalSocket::listen(directory_, "control");
  auto client = LocalSocket::connect(directory_, "control");
  ASSERT_TRUE(listener.ok() && client.ok());
  const LocalSocket peer = accept(*listener);
  EXPECT_EQ(*peer.receive_line(std::chrono::milliseconds(1)), std::nullopt);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(client->send_line(std::string(LocalSocket::kMostLine - 1, 'x')).ok());
  EXPECT_EQ((*peer.receive_line(kPatience))->size(), LocalSocket::kMostLine - 1);
}

}  // namespace

}  // namespace kyanite::os
