// Whole sessions: a client that has logged on, or not, sends what the input says, signed or
// encrypted as it should be or not at all. Whatever it is, replies are well-formed, carry ids that
// were asked with, and the connection ends in order.
//
// The input is a list of steps: a byte of flags, two bytes of length, the message behind its
// header.
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

// What every reply is like.
void look_at_replies(TestClient& client) {
  while (!client.carrier.frames.empty()) {
    const auto replies = client.take();
    CHECK(!replies.empty());
    for (const Received& reply : replies) {
      CHECK(reply.header.has(smb::header_flag::kReply));
      CHECK(reply.bytes.size() >= smb::kHeaderBytes + 2);
      CHECK(reply.header.message_id < client.next_id);
    }
  }
}

class Fuzzed {
 public:
  Fuzzed() {
    set_log_level(LogLevel::kError);
    world_.clock.set(Time::from_unix_seconds(1'800'000'000));
  }

  void run(std::string_view input) {
    TestClient client(world_);
    if (!input.empty() && (input[0] & 1) != 0) {
      client.come_in();
      client.connect("\\\\s\\data");
    } else {
      client.negotiate();
    }
    if (!input.empty()) input.remove_prefix(1);
    Step step;
    std::vector<std::string> chain;
    for (size_t i = 0; i < kMaxSteps && next_step(input, step); ++i) {
      if (!take(client, step, chain)) break;
      look_at_replies(client);
    }
    client.end();
    CHECK(world_.drive.sessions.established() == 0);
    CHECK(world_.drive.metrics.trees == 0);
    CHECK(world_.drive.metrics.opens == 0);
    CHECK(world_.drive.metrics.connections == 1);
  }

 private:
  static bool take(TestClient& client, const Step& step, std::vector<std::string>& chain) {
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
    chain.push_back(message.append(step.bytes.substr(1)));
    if ((step.flags & kChained) != 0) return true;
    client.signs = (step.flags & kUnsigned) == 0;
    client.sealed = (step.flags & kSealed) != 0 && client.sealer.has_value();
    return client.give(client.protect(std::exchange(chain, {})));
  }

  TestWorld world_;
};

}  // namespace
}  // namespace kyanite::drive

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // One for all inputs, made in the process that runs them: its workers are threads.
  static kyanite::drive::Fuzzed fuzzed;
  fuzzed.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
