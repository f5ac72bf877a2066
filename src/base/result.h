// Result<T, E>: a value or the reason why there is none. Input, peer and disk errors travel this
// way; nothing throws. (std::expected is C++23.)
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace kyanite {

// Wraps an error so that Result<T, E> can be built from it even where T and E convert into each
// other.
template <class E>
struct Failure {
  E error;
};
template <class E>
Failure(E) -> Failure<E>;

template <class T, class E>
class [[nodiscard]] Result {
 public:
  using Value = T;
  using Error = E;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  template <class F>
  requires std::is_convertible_v<F, E> Result(Failure<F> failure)
      : state_(std::in_place_index<1>, std::move(failure.error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T& value() {
    CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  E& error() {
    CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  const E& error() const {
    CHECK(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, E> state_;
};

// Success carries nothing.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using Value = void;
  using Error = E;

  Result() = default;
  Result(E error) : error_(std::move(error)) {}  // NOLINT
  template <class F>
  requires std::is_convertible_v<F, E> Result(Failure<F> failure)
      : error_(std::move(failure.error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  E& error() {
    CHECK(!ok());
    return *error_;
  }
  const E& error() const {
    CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<E> error_;
};

}  // namespace kyanite
