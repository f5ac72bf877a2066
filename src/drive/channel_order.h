// In which order requests for an open were sent, when a client that lost a connection sends them
// again on another: what was sent before the loss must not change the file after what was sent
// again.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kyanite::drive {

// Of one open. A client counts the connections it lost in a number of 16 bits, which every request
// carries.
class ChannelOrder {
 public:
  // The number that the request carried by which the open was made.
  explicit ChannelOrder(uint16_t sequence = 0) : sequence_(sequence) {}

  // How a request is counted while it is served.
  struct Counted {
    bool counted = false;
    uint64_t loss = 0;  // How many losses were known then.
  };

  // A request arrives. False in `may_change`: it must not change anything, because newer ones came
  // before it, or because it is sent again and the first one may still be served.
  Counted enter(uint16_t sequence, bool sent_again, bool& may_change) {
    const auto ahead = static_cast<uint16_t>(sequence - sequence_);
    if (ahead > kMostAhead) {
      may_change = false;
      return {};
    }
    if (ahead != 0) begin_anew(sequence);
    may_change = !sent_again || before_ == 0;
    ++now_;
    return {true, loss_};
  }
  // The client has come back after it had lost everything, and may count from the beginning again.
  void begin_anew(uint16_t sequence) {
    sequence_ = sequence;
    before_ += now_;
    now_ = 0;
    ++loss_;
  }
  // It is answered.
  void leave(const Counted& counted) {
    if (!counted.counted) return;
    --(counted.loss == loss_ ? now_ : before_);
  }

 private:
  static constexpr uint16_t kMostAhead = 0x7FFF;

  uint16_t sequence_;
  uint64_t loss_ = 0;
  size_t now_ = 0;     // Requests that are served, of the present number
  size_t before_ = 0;  // and of those before.
};

}  // namespace kyanite::drive
