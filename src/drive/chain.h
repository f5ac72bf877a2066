// The messages of one frame on their way, and their replies, which go back in one frame.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/buffer.h"
#include "drive/agreement.h"
#include "drive/session.h"
#include "os/file.h"
#include "smb/frame.h"
#include "store/store.h"

namespace kyanite::drive {

// What requests being served and their replies take of a connection's memory. Lives inside the
// connection, and outlives its weights.
class Load {
 public:
  class Weight;
  uint64_t bytes() const { return bytes_; }
  size_t requests() const { return requests_; }

 private:
  uint64_t bytes_ = 0;
  size_t requests_ = 0;
};

class Load::Weight {
 public:
  Weight() = default;
  Weight(Load& load, size_t requests, uint64_t bytes, Budget::Part frame, Budget::Part replies)
      : load_(&load),
        requests_(requests),
        bytes_(bytes),
        frame_(std::move(frame)),
        replies_(std::move(replies)) {
    load.requests_ += requests;
    load.bytes_ += bytes;
  }
  Weight(Weight&& other) noexcept
      : load_(std::exchange(other.load_, nullptr)),
        requests_(other.requests_),
        bytes_(other.bytes_),
        frame_(std::move(other.frame_)),
        replies_(std::move(other.replies_)) {}
  Weight& operator=(Weight&& other) noexcept {
    std::swap(load_, other.load_);
    std::swap(requests_, other.requests_);
    std::swap(bytes_, other.bytes_);
    frame_ = std::move(other.frame_);
    replies_ = std::move(other.replies_);
    return *this;
  }
  ~Weight() {
    if (load_ == nullptr) return;
    load_->requests_ -= requests_;
    load_->bytes_ -= bytes_;
  }

  // Its part of the memory for frames, which goes on with the frame.
  Budget::Part take_frame() { return std::move(frame_); }
  // For requests that wait for other clients: they take only the bytes that they came with, and
  // others are served meanwhile. Returns what they do not need: it goes with the note that they
  // wait, behind the replies of the same chain, which take it until their reader has them.
  [[nodiscard]] Weight rest(uint64_t bytes) {
    Weight spare;
    if (load_ == nullptr) return spare;
    bytes = std::min(bytes, bytes_);
    spare.load_ = load_;
    spare.requests_ = std::exchange(requests_, 0);
    spare.bytes_ = std::exchange(bytes_, bytes) - bytes;
    spare.replies_ = std::exchange(replies_, {});
    return spare;
  }

 private:
  Load* load_ = nullptr;
  size_t requests_ = 0;
  uint64_t bytes_ = 0;
  Budget::Part frame_;
  Budget::Part replies_;
};

// What replies of all connections may take.
Budget& reply_memory();

// A request as it arrived.
struct Incoming {
  smb::Message message;
  enum class Signature { kNone, kRight, kWrong };
  Signature signature = Signature::kNone;
  // The session whose key it was signed with, or the frame encrypted. Which session it is about is
  // found when it is served: it has to be this one. 0: none.
  uint64_t proven = 0;
};

// A reply or notification whose header is complete but for its signature.
struct Outgoing {
  std::string message;
  std::vector<os::Bytes> data;
  store::Hold hold;                    // Of what is in files yet.
  std::shared_ptr<Channel> signed_by;  // Null: not signed, or signed already.
};

inline uint64_t bytes_of(const Outgoing& message) {
  uint64_t size = message.message.size();
  for (const auto& piece : message.data) size += os::size_of(piece);
  return size;
}

// A frame to be sent.
struct OutgoingFrame {
  std::vector<Outgoing> messages;
  std::shared_ptr<Channel> sealed_by;  // Null: not encrypted.
  Load::Weight weight;
};

struct Chain {
  Buffer frame;
  std::vector<Incoming> requests;
  std::shared_ptr<Channel> sealed_by;  // Null: it was not encrypted.
  Load::Weight weight;

  // Of a chain that came to a further connection of its session and is served at home.
  struct Origin {
    std::shared_ptr<Mailbox> connection;
    std::shared_ptr<Channel> channel;
    uint64_t number = 0;  // Among those that are away from there.
    Agreement agreement;  // of that connection
    Budget::Part memory;  // Of the frame, which may outlive that connection.
  };
  std::optional<Origin> origin;
  // The connection that it came by is gone: what of it is served yet waits for nothing.
  bool ended = false;
  // Counted with those that came to further connections: as they do, or the one it came by is gone.
  bool guest = false;

  // What related messages take over from those before.
  std::shared_ptr<Session> session;
  uint32_t tree_id = 0;
  smb::FileId file = smb::kPreviousFile;             // None yet.
  smb::Status create_error = smb::Status::kSuccess;  // Of a CREATE that failed.

  std::vector<Outgoing> replies;
  uint64_t reply_bytes = 0;  // With what pads them.
  uint32_t credits = 0;      // Granted with them; the last reply of a frame carries them all.
};

}  // namespace kyanite::drive
