// Values as records and back.
#pragma once

#include <memory>
#include <utility>

#include "store/fields.h"
#include "store/store.h"

namespace kyanite::store {

template <class T>
RecordPtr to_record(const T& value) {
  auto record = std::make_shared<SharedRecord>();
  record->value = encode(value);
  return record;
}

// A value together with the record it came from. A record that many requests read is decoded once.
template <class T>
struct Shared {
  RecordPtr record;
  std::shared_ptr<const T> value;  // null: absent
};

// kCorrupt when the record is not one of this type.
template <class T>
Result<Shared<T>> decode_shared(RecordPtr record) {
  Shared<T> shared;
  if (record != nullptr) {
    const std::string_view bytes = record->value;
    const T* value = record->decoded.template get<T>([&] { return decode<T>(bytes); });
    if (value == nullptr) return Error::kCorrupt;
    shared.value = std::shared_ptr<const T>(record, value);
  }
  shared.record = std::move(record);
  return shared;
}

}  // namespace kyanite::store
