// Records through the store, with the store's failures turned into what a client sees.
#pragma once

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

#include "base/task.h"
#include "service/call.h"
#include "store/fields.h"
#include "store/store.h"
#include "store/stored.h"
#include "store/transact.h"
#include "wire/error.h"

namespace kyanite::service {

// A conflict that is met while a decision is being made stays one (wire::Error::conflict), for the
// loop that makes the decision.
wire::Error storage_error(store::Error error);

// For decisions that find out themselves that another commit came first.
inline wire::Error decide_again() { return storage_error(store::Error::kConflict); }

}  // namespace kyanite::service

template <>
struct kyanite::store::ErrorTraits<kyanite::wire::Error> {
  static wire::Error from(Error error) { return service::storage_error(error); }
  static bool is_conflict(const wire::Error& error) { return error.conflict; }
};

namespace kyanite::service {

// A decoded record together with the bytes it came from, which guard the commit that builds on it.
template <class T>
struct Loaded {
  store::RecordPtr record;  // null: absent
  std::optional<T> value;
};

template <class T>
wire::Result<Loaded<T>> decode_loaded(store::RecordPtr record) {
  Loaded<T> loaded;
  if (record != nullptr) {
    loaded.value = store::decode<T>(record->value);
    if (!loaded.value) return storage_error(store::Error::kCorrupt);
  }
  loaded.record = std::move(record);
  return loaded;
}

template <class T>
Task<wire::Result<Loaded<T>>> load(Call& call, const store::Key& key) {
  auto record = co_await call.store().get(key);
  if (!record) co_return storage_error(record.error());
  co_return decode_loaded<T>(std::move(*record));
}

// The same for operations that only read: a record that many requests read is decoded once.
using store::Shared;

template <class T>
Task<wire::Result<Shared<T>>> load_shared(Call& call, const store::Key& key) {
  auto record = co_await call.store().get(key);
  if (!record) co_return storage_error(record.error());
  auto shared = store::decode_shared<T>(std::move(*record));
  if (!shared) co_return storage_error(shared.error());
  co_return std::move(*shared);
}

using store::to_record;

// Edits that have nothing to wait for return a wire::Result, others a Task of one.
template <class T>
struct DecidedBy {
  using Type = T;
};
template <class T>
struct DecidedBy<Task<T>> {
  using Type = T;
};
template <class Returned>
using Decided = typename DecidedBy<Returned>::Type;
template <class T>
Task<T> decided(Task<T> task) {
  return task;
}
template <class T>
struct DecidedAlready {
  T value;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  T await_resume() { return std::move(value); }
};
template <class T>
DecidedAlready<wire::Result<T>> decided(wire::Result<T> result) {
  return {std::move(result)};
}

// For operations that read several records that belong together: `answer() -> Task of a
// wire::Result` is asked again as long as it meets conflicts.
template <class Answer>
auto answer_whole(Call& call, Answer answer) -> decltype(answer()) {
  auto decide = [&answer](store::Attempt&) { return answer(); };
  co_return co_await store::transact(call, decide);
}

// Read, decide, commit for operations that change one record: `edit` sees the record (absent:
// nullopt), changes it in place or clears it to delete, and returns what came of it as a
// wire::Result. It may be called several times.
template <class T, class Edit>
auto update(Call& call, store::Key key, Edit edit)
    -> Task<decltype(edit(std::declval<std::optional<T>&>()))> {
  using Decided = decltype(edit(std::declval<std::optional<T>&>()));
  auto decide = [&](store::Attempt& attempt) -> Task<Decided> {
    auto loaded = co_await load<T>(call, key);
    if (!loaded) co_return loaded.error();
    const bool existed = loaded->value.has_value();
    Decided decided = edit(loaded->value);
    if (!decided || (!existed && !loaded->value)) co_return decided;
    attempt.commit.expect(key, loaded->record);
    attempt.commit.put(key, loaded->value ? to_record(*loaded->value) : nullptr);
    co_return decided;
  };
  co_return co_await store::transact(call, key, decide);
}

}  // namespace kyanite::service
