#pragma once

#include <optional>
#include <span>

#include "service/operation.h"
#include "table/change.h"

namespace kyanite::table {

// Every operation of the Table service.
std::span<const service::Operation> operations();

// What an operation does to an entity; nothing when it changes none.
std::optional<Verb> verb_of(const service::Operation& operation);

}  // namespace kyanite::table
