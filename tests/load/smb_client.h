// A connection to an SMB server that asks for as little of the machine as it can, so that the
// server is what is measured: requests are signed or encrypted as the server demands, of large
// replies only the header is looked at and the rest dropped inside the kernel, and signatures of
// replies are checked before the clock starts only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "drive/test_client.h"
#include "measure.h"
#include "smb/cipher_context.h"

namespace kyanite::load {

// Of one thread.
class SmbClient final : public drive::ClientSide {
 public:
  struct Account {
    std::string user;
    std::string password;
    std::string share;
  };
  // Connects to a port of this machine, logs on and connects to the share. Ends the program when
  // that fails.
  SmbClient(uint16_t port, const Account& account);
  ~SmbClient() override;
  SmbClient(const SmbClient&) = delete;
  SmbClient& operator=(const SmbClient&) = delete;

  // --- Before and after the clock runs: one frame at a time, every reply is checked ---

  std::vector<drive::Received> converse(std::string_view frame) override;
  // Asks and demands this status.
  template <class Body>
  drive::Received demand(smb::Command command, const Body& body,
                         smb::Status status = smb::Status::kSuccess) {
    auto answer = ask(command, body);
    if (!answer) give_up(smb::name(command) + " was not answered");
    check(*answer, status);
    return std::move(*answer);
  }
  smb::FileId open(const smb::CreateRequest& request);
  void close(const smb::FileId& file);
  // Ends the program unless the reply is protected and has this status.
  void check(const drive::Received& received, smb::Status status) const;

  // --- While it runs ---

  // From now on nothing waits; until end().
  void begin() { set_blocking(false); }
  void end() { set_blocking(true); }
  int descriptor() const { return socket_; }
  bool may_send(uint16_t credits) const { return next_id + credits <= granted_; }
  size_t in_flight() const { return sent_.size(); }
  // Sends the messages, made by message(), as one frame.
  void send(std::vector<std::string> messages);
  // Writes what is to be sent, as far as the server takes it. False when it is gone.
  bool flush();

  struct Reply {
    smb::Header header;
    std::string_view bytes;   // With the header; of large ones only the beginning.
    Clock::time_point began;  // When its frame was sent.
    bool ends_frame = false;  // It answers the last message of that.
  };
  // Calls `take` for each reply that has arrived. False when the server is gone.
  template <class Take>
  bool receive(const Take& take) {
    while (const auto plain = next_frame()) {
      take_frame(*plain, take);
      forget_frame();
    }
    return !gone_;
  }

 private:
  void set_blocking(bool blocking) const;
  [[noreturn]] void give_up(const std::string& why) const;
  void send_blocking(std::string_view frame) const;
  std::string receive_blocking() const;
  // The plain bytes of the next frame that is here as far as it is wanted.
  std::optional<std::string_view> next_frame();
  std::optional<std::string_view> open_frame();
  void forget_frame();
  bool fill(size_t bytes);
  bool drop_rest();

  template <class Take>
  void take_frame(std::string_view plain, const Take& take) {
    while (true) {
      Reply reply;
      smb::Reader reader(plain);
      reader(reply.header);
      if (!reader.ok()) give_up("a malformed reply");
      const size_t next = reply.header.next_command;
      reply.bytes = next == 0 ? plain : plain.substr(0, next);
      granted_ += reply.header.credits;
      // A note that the reply takes its time is none.
      if (reply.header.status != smb::Status::kPending) {
        const auto found = sent_.find(reply.header.message_id);
        if (found != sent_.end()) {
          reply.began = found->second;
          reply.ends_frame = true;
          sent_.erase(found);
        }
        take(reply);
      }
      if (next == 0) return;
      plain.remove_prefix(next);
    }
  }

  const int socket_;
  uint64_t granted_ = 1;  // Message ids below this may be used.
  bool gone_ = false;
  std::unordered_map<uint64_t, Clock::time_point> sent_;  // By the id of a frame's last message.
  std::string out_;
  size_t out_at_ = 0;
  std::string in_;          // What arrived of the frame at hand and of those behind it.
  size_t in_at_ = 0;        // Where the frame begins, with its prefix.
  size_t frame_bytes_ = 0;  // 0 until its prefix is here.
  size_t held_ = 0;         // So much of it is kept,
  size_t to_drop_ = 0;      // and so much is yet to be dropped.
  smb::CipherContext beginning_;
};

}  // namespace kyanite::load
