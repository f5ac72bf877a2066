// Replies whose data is still in a file when they are sent.
#include "drive/sender.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "drive/channel.h"
#include "drive/test_support.h"
#include "os/file.h"
#include "smb/file_io.h"

namespace kyanite::drive {
namespace {

using smb::Status;

class DataInFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/kyanite-sender-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    auto file = os::File::open(directory_ + "/file", os::File::Mode::kCreateNew);
    ASSERT_TRUE(file.ok());
    file_ = *file;
    for (size_t i = 0; i < content_.size(); ++i) content_[i] = static_cast<char>(i * 7919 >> 8);
    ASSERT_TRUE(file_->write_at(content_, 0).ok());
    keys_.signing = smb::SecretKey(std::string(16, 's'));
    keys_.client_to_server = keys_.server_to_client = smb::SecretKey(std::string(16, 'k'));
    channel_ = std::make_shared<Channel>(7, smb::SigningId::kGmac, keys_.signing);
    channel_->encrypt(smb::CipherId::kGcm128, keys_, 0);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // A reply with some bytes in memory between two parts of the file.
  Outgoing reply(uint64_t second_part) const {
    smb::Header header;
    header.command = smb::Command::kRead;
    header.flags = smb::header_flag::kReply;
    header.message_id = 5;
    header.session_id = channel_->session_id;
    smb::ReadReply body;
    body.length = static_cast<uint32_t>(kFirstPart + kMiddle.size() + second_part);
    Outgoing out;
    out.message = smb::encode(header, body);
    out.data.emplace_back(os::FileSlice{file_, 10, kFirstPart});
    out.data.emplace_back(Buffer::copy_of(kMiddle));
    out.data.emplace_back(os::FileSlice{file_, kFirstPart, second_part});
    return out;
  }
  std::string expected(uint64_t second_part) const {
    return content_.substr(10, kFirstPart) + std::string(kMiddle) +
           content_.substr(kFirstPart, second_part);
  }

  // What arrives, as a client sees it.
  std::vector<Received> send(OutgoingFrame frame) {
    Sender sender(carrier_, world_.workers);
    sender.send(std::move(frame));
    EXPECT_TRUE(world_.loop.run_until([&] { return !carrier_.frames.empty(); }));
    bool drained = false;
    const auto drain = [](Sender& from, bool& out) -> Detached {
      co_await from.drain();
      out = true;
    };
    drain(sender, drained);
    EXPECT_TRUE(world_.loop.run_until([&] { return drained; }));
    struct Client final : ClientSide {
      std::vector<Received> converse(std::string_view) override { return {}; }
    } client;
    client.signer.emplace(smb::SigningId::kGmac, keys_.signing);
    client.opener.emplace(smb::CipherId::kGcm128, keys_.server_to_client);
    std::string bytes = carrier_.frames.front().substr(smb::kPrefixBytes);
    carrier_.frames.pop_front();
    return client.take_apart(std::move(bytes));
  }
  std::vector<Received> send(std::vector<Outgoing> messages, bool sealed) {
    OutgoingFrame frame;
    for (Outgoing& message : messages) {
      if (!sealed) message.signed_by = channel_;
      frame.messages.push_back(std::move(message));
    }
    if (sealed) frame.sealed_by = channel_;
    return send(std::move(frame));
  }
  std::vector<Received> send_one(uint64_t second_part, bool sealed) {
    std::vector<Outgoing> one;
    one.push_back(reply(second_part));
    return send(std::move(one), sealed);
  }

  static constexpr uint64_t kFirstPart = 300'000;
  static constexpr std::string_view kMiddle = "between";
  std::string directory_;
  std::string content_ = std::string(1'000'000, '\0');
  std::shared_ptr<const os::File> file_;
  smb::SessionKeys keys_;
  std::shared_ptr<Channel> channel_;
  TestWorld world_;
  MemoryCarrier carrier_{world_.loop, "127.0.0.1"};
};

TEST_F(DataInFiles, IsSentProtected) {
  for (const bool sealed : {false, true}) {
    const auto received = send_one(400'000, sealed);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].sealed, sealed);
    EXPECT_NE(received[0].signature_right, sealed);
    EXPECT_TRUE(received[0].body<smb::ReadReply>().data == expected(400'000));
  }
  EXPECT_EQ(carrier_.slices.size(), 2u);
}

// What follows each other there is sent at once; what is short, with the rest.
TEST_F(DataInFiles, IsSentFromThereAsFewSlices) {
  smb::Header header;
  header.command = smb::Command::kRead;
  header.flags = smb::header_flag::kReply;
  header.session_id = channel_->session_id;
  smb::ReadReply body;
  body.length = 700'100;
  Outgoing out;
  out.message = smb::encode(header, body);
  out.data.emplace_back(os::FileSlice{file_, 900'000, 100});
  for (const uint64_t offset : {0, 100'000, 200'000, 500'000, 600'000, 700'000, 800'000})
    out.data.emplace_back(os::FileSlice{file_, offset, 100'000});
  std::vector<Outgoing> one;
  one.push_back(std::move(out));
  const auto received = send(std::move(one), false);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_TRUE(received[0].signature_right);
  EXPECT_TRUE(received[0].body<smb::ReadReply>().data == content_.substr(900'000, 100) +
                                                             content_.substr(0, 300'000) +
                                                             content_.substr(500'000, 400'000));
  ASSERT_EQ(carrier_.slices.size(), 2u);
  EXPECT_EQ(carrier_.slices[0].length, 300'000u);
  EXPECT_EQ(carrier_.slices[1].length, 400'000u);
}

TEST_F(DataInFiles, IsPartOfAChain) {
  for (const bool sealed : {false, true}) {
    std::vector<Outgoing> messages;
    messages.push_back(reply(1));
    messages.push_back(reply(400'000));
    const auto received = send(std::move(messages), sealed);
    ASSERT_EQ(received.size(), 2u);
    EXPECT_TRUE(received[0].body<smb::ReadReply>().data.starts_with(expected(1)));
    EXPECT_TRUE(received[1].body<smb::ReadReply>().data == expected(400'000));
  }
}

TEST_F(DataInFiles, ThatCannotBeReadIsAnErrorToTheClient) {
  for (const bool sealed : {false, true}) {
    const auto received = send_one(content_.size(), sealed);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].status(), Status::kDataError);
    EXPECT_EQ(received[0].header.message_id, 5u);
    EXPECT_EQ(received[0].sealed, sealed);
    EXPECT_NE(received[0].signature_right, sealed);
  }
}

// Frames of a connection that takes them when it is told to.
class FramesInTurn : public testing::Test {
 protected:
  void send(const std::string& message) {
    OutgoingFrame frame;
    Outgoing out;
    out.message = message;
    frame.messages.push_back(std::move(out));
    sender_.send(std::move(frame));
  }
  void drain() {
    const auto wait = [](Sender& from, bool& out) -> Detached {
      co_await from.drain();
      out = true;
    };
    wait(sender_, drained_);
  }

  TestWorld world_;
  MemoryCarrier carrier_{world_.loop, "127.0.0.1"};
  Sender sender_{carrier_, world_.workers};
  bool drained_ = false;
};

TEST_F(FramesInTurn, AreSentInOrderThoughTheyAreMadeReadyAhead) {
  Pending<bool> taken;
  carrier_.held = &taken;
  size_t progress = 0;
  sender_.on_progress = [&] { ++progress; };
  // The second is made by a worker, the others at once.
  const std::vector<std::string> messages = {"first", std::string(kInlineCryptoBytes + 1, 'x'),
                                             "third", "fourth"};
  for (const std::string& message : messages) send(message);
  EXPECT_GT(sender_.waiting(), 1u);
  EXPECT_EQ(progress, 0u);
  drain();
  carrier_.held = nullptr;
  taken.set(true);
  EXPECT_TRUE(world_.loop.run_until([&] { return drained_; }));
  ASSERT_EQ(carrier_.frames.size(), messages.size());
  for (size_t i = 0; i < messages.size(); ++i)
    EXPECT_TRUE(carrier_.frames[i].substr(smb::kPrefixBytes) == messages[i]) << i;
  EXPECT_EQ(progress, messages.size());
  EXPECT_EQ(sender_.waiting(), 0u);
}

TEST_F(FramesInTurn, AreForgottenWhenThePeerIsGone) {
  Pending<bool> taken;
  carrier_.held = &taken;
  Load load;
  const auto send_weighed = [&](const std::string& message) {
    OutgoingFrame frame;
    Outgoing out;
    out.message = message;
    frame.messages.push_back(std::move(out));
    frame.weight = Load::Weight(load, 1, message.size(), {}, {});
    sender_.send(std::move(frame));
  };
  size_t left = 0;
  sender_.on_progress = [&] { left = load.requests(); };
  for (const char* message : {"first", "second", "third"}) send_weighed(message);
  send_weighed(std::string(kInlineCryptoBytes + 1, 'x'));
  EXPECT_EQ(load.requests(), 4u);
  drain();
  carrier_.is_cut = true;
  carrier_.held = nullptr;
  taken.set(true);
  EXPECT_TRUE(world_.loop.run_until([&] { return drained_; }));
  EXPECT_TRUE(carrier_.frames.empty());
  EXPECT_EQ(load.requests(), 0u);
  EXPECT_EQ(left, 0u);  // Whoever waits for room has been told last when there was all of it.
  send_weighed("late");
  EXPECT_EQ(load.requests(), 0u);
}

}  // namespace
}  // namespace kyanite::drive
