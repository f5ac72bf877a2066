// What the Queue service stores. docs/formats/queue.md describes the keys and the meaning of every
// field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "account/access_policies.h"
#include "base/clock.h"
#include "headers/metadata.h"
#include "store/key.h"

namespace kyanite::queue {

struct Queue {
  store::SpaceId space = 0;  // The incarnation: where its messages are. Clearing gives a new one.
  Time created;
  headers::Metadata metadata;
  std::vector<account::StoredPolicy> policies;

  template <class Io>
  void fields(Io& io) {
    io(1, space);
    io(2, created);
    io(3, metadata);
    io(4, policies);
  }
};

// What a message that never expires has as its time of expiry: Fri, 31 Dec 9999 23:59:59 GMT.
inline constexpr Time kNever{3'155'378'975'990'000'000};

// When a message expires, without the rest of it.
struct MessageExpiry {
  Time expires;
  template <class Io>
  void fields(Io& io) {
    io(2, expires);
  }
};

struct Message {
  Time inserted;
  Time expires;
  uint64_t dequeue_count = 0;
  uint64_t receipt = 0;     // Random, new with every Get and Update.
  bool text_apart = false;  // The text is in a record of its own.
  std::string text;

  template <class Io>
  void fields(Io& io) {
    io(1, inserted);
    io(2, expires);
    io(3, dequeue_count);
    io(4, receipt);
    io(5, text_apart);
    io(6, text);
  }

  bool expired(Time now) const { return expires <= now; }
};

// Longer texts are kept apart, so that taking a message does not write its text again.
inline constexpr size_t kMaxInlineText = 4 * 1024;

}  // namespace kyanite::queue
