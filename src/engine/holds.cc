#include "engine/holds.h"

#include <atomic>

namespace kyanite::engine {

namespace {
std::atomic<size_t> next_thread{0};
thread_local const size_t this_thread = next_thread++;
}  // namespace

Holds::Token::Token(std::shared_ptr<Shared> owner) : shared(std::move(owner)) {
  MutexLock lock(shared->mutex);
  ++shared->tokens;
}

Holds::Token::~Token() {
  MutexLock lock(shared->mutex);
  --shared->tokens;
  shared->changed.notify_all();
}

Holds::Holds() {
  for (auto& slot : slots_) slot.token = std::make_shared<Token>(shared_);
}

store::Hold Holds::take() {
  Slot& slot = slots_[this_thread % kSlots];
  MutexLock lock(slot.mutex);
  return store::Hold(slot.token);
}

bool Holds::wait_for_earlier() {
  for (auto& slot : slots_) {
    auto fresh = std::make_shared<Token>(shared_);
    {
      MutexLock lock(slot.mutex);
      slot.token.swap(fresh);
    }
    // The old token goes here, outside the slot's lock, unless a Hold still has it.
  }
  MutexLock lock(shared_->mutex);
  shared_->changed.wait(lock, [&]() REQUIRES(shared_->mutex) {
    return shared_->stopping || shared_->tokens == kSlots;
  });
  return !shared_->stopping;
}

void Holds::stop() {
  MutexLock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

store::Hold Holds::keep(std::vector<store::Ref> refs) {
  MutexLock lock(shared_->mutex);
  const auto one = shared_->kept.insert(shared_->kept.end(), std::move(refs));
  const auto forget = [shared = shared_, one](void*) {
    MutexLock forgetting(shared->mutex);
    shared->kept.erase(one);
  };
  return store::Hold(std::shared_ptr<void>(nullptr, forget));
}

void Holds::each_kept(const std::function<void(const store::Ref&)>& see) const {
  MutexLock lock(shared_->mutex);
  for (const auto& refs : shared_->kept) {
    for (const auto& ref : refs) see(ref);
  }
}

}  // namespace kyanite::engine
