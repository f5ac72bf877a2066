// Who may still use bytes that are no longer listed anywhere. Taking a Hold costs a short lock of
// one of several slots and a counter; waiting for all earlier ones is the sweep's business and may
// take as long as the slowest request.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "store/store.h"

namespace kyanite::engine {

class Holds {
 public:
  Holds();
  store::Hold take();
  // Returns true once every Hold taken before the call is gone; false when stop() was called first.
  // One caller at a time.
  bool wait_for_earlier();
  void stop();

  // Bytes that are used for longer than a request. Nobody waits for these.
  store::Hold keep(std::vector<store::Ref> refs);
  void each_kept(const std::function<void(const store::Ref&)>& see) const;

 private:
  using Kept = std::list<std::vector<store::Ref>>;
  // Outlives Holds: the last Hold may go after it.
  struct Shared {
    Mutex mutex;
    ConditionVariable changed;
    size_t tokens GUARDED_BY(mutex) = 0;
    bool stopping GUARDED_BY(mutex) = false;
    Kept kept GUARDED_BY(mutex);
  };
  // All Holds that took a slot's token between two waits share it; it dies with the last of them.
  struct Token {
    explicit Token(std::shared_ptr<Shared> owner);
    ~Token();
    std::shared_ptr<Shared> shared;
  };
  struct alignas(64) Slot {
    Mutex mutex;
    std::shared_ptr<Token> token GUARDED_BY(mutex);
  };

  static constexpr size_t kSlots = 16;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::array<Slot, kSlots> slots_;
};

}  // namespace kyanite::engine
