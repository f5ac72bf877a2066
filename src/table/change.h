// Changes of entities: read, decide, commit for one of them or for a whole transaction. Everything
// that writes entities goes through apply_changes().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "service/call.h"
#include "service/storage.h"
#include "store/store.h"
#include "table/entity.h"
#include "wire/error.h"

namespace kyanite::table {

enum class Verb { kInsert, kReplace, kMerge, kDelete };

// If-Match.
struct Condition {
  bool any = false;  // "*": whatever the entity is, but it must be there
  Time timestamp;    // of the one tag named; unset for a tag that no entity has
};

struct Change {
  Verb verb = Verb::kInsert;
  std::string partition;
  std::string row;
  // Without it kReplace and kMerge make the entity when it is missing and check nothing.
  std::optional<Condition> condition;
  std::string properties;  // encoded
};

// The change that a request (or one part of a batch) asks for. Refuses whatever is wrong regardless
// of what is stored, keys outside a SAS's range among it.
wire::Result<Change> decode_change(const service::Call& call, Verb verb, std::string_view body);

// If-Match of an operation on one entity; nothing when it is absent. 400 when it is not one tag.
wire::Result<std::optional<Condition>> decode_condition(const service::Call& call);

// The entity as it is after a change.
struct Changed {
  Time timestamp;           // unset after a delete
  store::RecordPtr record;  // null after a delete
};

// What the change makes of the entity, which is null when there is none. Pure.
wire::Result<Changed> decide(const Change& change, const store::RecordPtr& before, Time now);

struct Refusal {
  size_t index = 0;  // of the change that cannot be made
  wire::Error error;
};

// All changes, durably and in one step, or none. They must be of different entities of one
// partition.
Task<Result<std::vector<Changed>, Refusal>> apply_changes(service::Call& call, store::SpaceId space,
                                                          const std::vector<Change>& changes);

}  // namespace kyanite::table

template <>
struct kyanite::store::ErrorTraits<kyanite::table::Refusal> {
  static table::Refusal from(Error error) { return {0, service::storage_error(error)}; }
  static bool is_conflict(const table::Refusal& refusal) { return refusal.error.conflict; }
};
