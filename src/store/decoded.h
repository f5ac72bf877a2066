// What a record decodes to, kept with the record: a hot one is decoded once, not once a request.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace kyanite::store {

// Filled at most once, by whichever thread comes first. A copy of a record begins empty.
class DecodedSlot {
 public:
  DecodedSlot() = default;
  ~DecodedSlot() { delete held_.load(std::memory_order_acquire); }
  DecodedSlot(const DecodedSlot&) {}
  DecodedSlot& operator=(const DecodedSlot& other) {
    if (this != &other) delete held_.exchange(nullptr);
    return *this;
  }

  // The value, made by `decode()` (an optional<T>) if this is the first to ask; null when that
  // fails. All who ask must ask for the same T: what a record is follows from its key.
  template <class T, class Decode>
  const T* get(Decode decode) const {
    const Held* held = held_.load(std::memory_order_acquire);
    if (held == nullptr) {
      std::optional<T> value = decode();
      if (!value) return nullptr;
      auto* mine = new HeldValue<T>(std::move(*value));
      if (held_.compare_exchange_strong(held, mine)) {
        held = mine;
      } else {
        delete mine;
      }
    }
    CHECK(held->type == &HeldValue<T>::kType);
    return &static_cast<const HeldValue<T>*>(held)->value;
  }

  // Roughly, for the budget of caches.
  size_t bytes() const {
    const Held* held = held_.load(std::memory_order_acquire);
    return held == nullptr ? 0 : held->bytes;
  }

 private:
  struct Held {
    const char* type;
    size_t bytes;
    virtual ~Held() = default;
    Held(const char* type_mark, size_t size) : type(type_mark), bytes(size) {}
  };
  template <class T>
  struct HeldValue : Held {
    static constexpr char kType = 0;
    explicit HeldValue(T&& from) : Held(&kType, sizeof(HeldValue)), value(std::move(from)) {}
    const T value;
  };

  mutable std::atomic<const Held*> held_{nullptr};
};

}  // namespace kyanite::store
