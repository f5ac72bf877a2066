// Sends a connection's frames one after the other: reads what is still in files, signs, encrypts
// and writes. Large ones are prepared by the workers, each while the one before is written.
#pragma once

#include <deque>

#include "base/buffer.h"
#include "base/executor.h"
#include "drive/carrier.h"
#include "drive/chain.h"

namespace kyanite::drive {

// Used on the connection's loop.
class Sender {
 public:
  Sender(Carrier& carrier, Workers& workers) : carrier_(carrier), workers_(workers) {}
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // Its frame is sent after those before it; not at all once the peer is gone.
  void send(OutgoingFrame frame);
  // The peer is gone.
  bool broken() const { return broken_; }
  size_t waiting() const { return queue_.size() + ready_.size(); }

  // Called on the loop after each frame, when its memory is free again.
  std::function<void()> on_progress;

  // Until everything is sent, or the peer is gone.
  Task<void> drain();

 private:
  struct Prepared {
    OutgoingFrame frame;
    Buffer sealed;     // Behind its prefix; empty when the frame is not encrypted.
    size_t begin = 0;  // Of the prefix, there.
  };

  static void prepare(Prepared& prepared);
  Detached prepare_all();
  Detached write_all();
  Task<bool> write_one(Prepared prepared);
  void give_up();
  void look_if_drained();

  Carrier& carrier_;
  Workers& workers_;
  std::deque<OutgoingFrame> queue_;
  std::deque<Prepared> ready_;
  bool preparing_ = false;
  bool writing_ = false;
  bool broken_ = false;
  Pending<bool>* room_ = nullptr;  // among those that are ready
  Pending<bool>* drained_ = nullptr;
};

}  // namespace kyanite::drive
