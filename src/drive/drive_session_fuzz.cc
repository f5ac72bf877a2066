// Whole sessions: a client that has logged on, or not, sends what the input says, signed or
// encrypted as it should be or not at all; another one joins in, and both may lose their
// connections and come back for what they had open. Whatever it is, replies are well-formed, carry
// ids that were asked with, and the connections end in order.
//
// The input is a list of steps: a byte of flags, two bytes of length, the message behind its
// header. In a message kNewest and kOlder stand for what was opened last and before that.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "drive/test_support.h"

namespace kyanite::drive {
namespace {

constexpr uint8_t kRaw = 0x01;  // The whole frame is as it is.
constexpr uint8_t kSealed = 0x02;
constexpr uint8_t kUnsigned = 0x04;
constexpr uint8_t kChained = 0x08;  // Goes with the next one.
constexpr uint8_t kRelatedToLast = 0x10;
constexpr uint8_t kOther = 0x20;      // The other client sends it.
constexpr uint8_t kComesBack = 0x40;  // On a new connection, whose session follows the one before.

constexpr size_t kFileIdBytes = 16;
const std::string kNewest(kFileIdBytes, '\xee');
const std::string kOlder(kFileIdBytes, '\xed');

constexpr size_t kMaxSteps = 32;

struct Step {
  uint8_t flags = 0;
  std::string_view bytes;
};

bool next_step(std::string_view& input, Step& step) {
  if (input.size() < 3) return false;
  step.flags = static_cast<uint8_t>(input[0]);
  const size_t length =
      static_cast<uint8_t>(input[1]) + 256 * static_cast<size_t>(static_cast<uint8_t>(input[2]));
  input.remove_prefix(3);
  step.bytes = input.substr(0, length);
  input.remove_prefix(step.bytes.size());
  return true;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// One machine and the connection it has.
class Machine {
 public:
  Machine(TestWorld& world, char guid) : world_(world), guid_(guid) { connect(); }

  TestClient& client() { return *client_; }
  void log_on(uint64_t previous = 0) {
    client_->come_in({}, previous);
    client_->connect("\\\\s\\data");
  }
  void come_back() {
    const bool was_in = client_->established;
    const uint64_t before = client_->session_id;
    connect();
    if (was_in) {
      log_on(before);
    } else {
      client_->negotiate();
    }
  }
  void end() { client_->end(); }

  std::vector<std::string> chain;  // Messages that go with the next one.

 private:
  void connect() {
    chain.clear();
    client_.reset();
    client_.emplace(world_);
    client_->guid.fill(guid_);
  }

  TestWorld& world_;
  const char guid_;
  std::optional<TestClient> client_;
};

class Fuzzed {
 public:
  explicit Fuzzed(Workers& workers) : world_(workers) {}

  void run(std::string_view input) {
    const bool in = !input.empty() && (input[0] & 1) != 0;
    if (in) {
      first_.log_on();
    } else {
      first_.client().negotiate();
    }
    if (!input.empty()) input.remove_prefix(1);
    Step step;
    for (size_t i = 0; i < kMaxSteps && next_step(input, step); ++i) {
      if (!take(step)) break;
      look_at_replies(first_);
      if (second_) look_at_replies(*second_);
    }
    first_.end();
    if (second_) second_->end();
    CHECK(world_.drive.sessions.established() == 0);
    CHECK(world_.drive.metrics.trees == 0);
    CHECK(world_.drive.metrics.opens == 0);
    CHECK(world_.drive.metrics.connections == (second_ ? 2 : 1));
  }

 private:
  // What every reply is like.
  void look_at_replies(Machine& machine) {
    TestClient& client = machine.client();
    while (!client.carrier.frames.empty()) {
      const auto replies = client.take();
      CHECK(!replies.empty());
      for (const Received& reply : replies) {
        CHECK(reply.header.has(smb::header_flag::kReply));
        CHECK(reply.bytes.size() >= smb::kHeaderBytes + 2);
        constexpr uint64_t kNotification = UINT64_MAX;
        const uint64_t id = reply.header.message_id;
        CHECK(id < client.next_id || id == kNotification);
        if (reply.header.command == smb::Command::kCreate &&
            reply.status() == smb::Status::kSuccess) {
          std::string file;
          smb::append_fields(file, reply.body<smb::CreateReply>().file);
          older_ = std::exchange(newest_, file);
        }
      }
    }
  }

  bool take(const Step& step) {
    if ((step.flags & kOther) != 0 && !second_) {
      second_.emplace(world_, 'd');
      second_->log_on();
    }
    Machine& machine = (step.flags & kOther) != 0 ? *second_ : first_;
    if ((step.flags & kComesBack) != 0) machine.come_back();
    TestClient& client = machine.client();
    if ((step.flags & kRaw) != 0) {
      // Its ids are its own, and so may be those of replies.
      client.next_id = UINT64_MAX;
      return client.give(step.bytes) && false;
    }
    if (step.bytes.empty()) return true;
    const auto command = static_cast<smb::Command>(static_cast<uint8_t>(step.bytes[0]) % 0x14);
    smb::Header header = client.next_header(command);
    if ((step.flags & kRelatedToLast) != 0) header.flags |= smb::header_flag::kRelated;
    std::string message;
    smb::append_fields(message, header);
    message.append(step.bytes.substr(1));
    replace_all(message, kNewest, newest_);
    replace_all(message, kOlder, older_);
    machine.chain.push_back(std::move(message));
    if ((step.flags & kChained) != 0) return true;
    client.signs = (step.flags & kUnsigned) == 0;
    client.sealed = (step.flags & kSealed) != 0 && client.sealer.has_value();
    return client.give(client.protect(std::exchange(machine.chain, {})));
  }

  TestWorld world_;
  Machine first_{world_, 'c'};
  std::optional<Machine> second_;
  std::string newest_ = std::string(kFileIdBytes, '\xff');
  std::string older_ = newest_;
};

}  // namespace
}  // namespace kyanite::drive

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kyanite::set_log_level(kyanite::LogLevel::kError);
  // One for all inputs, made in the process that runs them. Nothing else of one is left for the
  // next.
  static kyanite::Workers workers{1};
  kyanite::drive::Fuzzed(workers).run({reinterpret_cast<const char*>(data), size});
  return 0;
}
