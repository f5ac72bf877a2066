// Records through the store, with the store's failures turned into what a client sees.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/task.h"
#include "service/call.h"
#include "store/fields.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::service {

// A conflict that is met while a decision is being made stays one (wire::Error::conflict), for the
// loop that makes the decision.
wire::Error storage_error(store::Error error);

// To be called before a decision is made again: it is made later. So what is named by the instant
// of a request (snapshots, versions, deletions) and finds its name taken gets another.
void decide_again(Call& call);

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
template <class T>
struct Shared {
  store::RecordPtr record;
  std::shared_ptr<const T> value;  // null: absent
};

template <class T>
Task<wire::Result<Shared<T>>> load_shared(Call& call, const store::Key& key) {
  auto record = co_await call.store().get(key);
  if (!record) co_return storage_error(record.error());
  Shared<T> shared;
  if (*record != nullptr) {
    const std::string_view bytes = (*record)->value;
    const T* value = (*record)->decoded.template get<T>([&] { return store::decode<T>(bytes); });
    if (value == nullptr) co_return storage_error(store::Error::kCorrupt);
    shared.value = std::shared_ptr<const T>(*record, value);
  }
  shared.record = std::move(*record);
  co_return shared;
}

template <class T>
store::RecordPtr to_record(const T& value) {
  auto record = std::make_shared<store::Record>();
  record->value = store::encode(value);
  return record;
}

// How often a decision is made anew after a conflict. Writers wait in line for a lock first, so one
// more try is the rule.
inline constexpr int kMaxTries = 100;

// Counts the tries of a request, from when it is its turn:
//
//   Tries tries(call);
//   while (tries.another()) { ... }
//   co_return tries.error();
class Tries {
 public:
  explicit Tries(Call& call) : Tries(call.deadline) { call_ = &call; }
  explicit Tries(const Deadline& deadline) : deadline_(deadline) {}
  bool another() {
    late_ = deadline_.over();
    if (late_ || count_ == kMaxTries) return false;
    if (count_++ > 0 && call_ != nullptr) decide_again(*call_);
    return true;
  }
  bool is_first() const { return count_ == 1; }
  wire::Error error() const {
    return late_ ? wire::Code::kOperationTimedOut : wire::Code::kServerBusy;
  }

 private:
  const Deadline& deadline_;  // It may be put off between two tries.
  Call* call_ = nullptr;      // Null: it has no instant of its own that a later decision moves on.
  int count_ = 0;
  bool late_ = false;
};

// For operations that read several records that belong together: `answer() -> Task of
// wire::Result<http::Reply>` is asked again as long as it meets conflicts.
template <class Answer>
Task<wire::Result<http::Reply>> answer_whole(Call& call, Answer answer) {
  Tries tries(call);
  while (tries.another()) {
    wire::Result<http::Reply> reply = co_await answer();
    if (reply || !reply.error().conflict) co_return reply;
  }
  co_return tries.error();
}

// Read, decide, commit for operations that change one record: `edit` sees the record (absent:
// nullopt), changes it in place or clears it to delete, and returns the reply to give once the
// change is durable. It may be called several times.
template <class T, class Edit>
Task<wire::Result<http::Reply>> update(Call& call, const store::Key& key, Edit edit) {
  auto turn = co_await call.context.locks.lock(key.bytes());
  Tries tries(call);
  while (tries.another()) {
    auto loaded = co_await load<T>(call, key);
    if (!loaded) co_return loaded.error();
    const bool existed = loaded->value.has_value();
    wire::Result<http::Reply> reply = edit(loaded->value);
    if (!reply) co_return reply;
    if (!existed && !loaded->value) co_return reply;
    store::Commit commit;
    commit.guards.push_back({key, loaded->record});
    commit.writes.push_back({key, loaded->value ? to_record(*loaded->value) : nullptr});
    auto done = co_await call.store().commit(std::move(commit));
    if (done) co_return reply;
    if (done.error() != store::Error::kConflict) co_return storage_error(done.error());
  }
  co_return tries.error();
}

}  // namespace kyanite::service
