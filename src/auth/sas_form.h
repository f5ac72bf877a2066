// The form of a SAS: the parameters that it may consist of, and how long each may be. It is looked
// at before anything is parsed, sorted or hashed, so that garbage costs next to nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "wire/error.h"
#include "wire/query.h"

namespace kyanite::auth {

struct SasParameter {
  std::string_view name;
  size_t max_bytes;  // of the decoded value
};
std::span<const SasParameter> sas_parameters();

// How many headers or parameters a token may list in srh or srq.
inline constexpr size_t kMaxSignedNames = 32;

// Refuses a token one of whose parameters is too long or given twice: which of the two would count
// is nobody's to guess. Other parameters of the query are left alone.
wire::Result<void> check_sas_form(const wire::Query& query);

}  // namespace kyanite::auth
