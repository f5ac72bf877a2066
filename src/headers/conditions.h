// Conditional headers and lease ids between the wire and the concurrency kernel: decoding, and the
// one place where the kernel's verdicts become client-visible errors.
#pragma once

#include <optional>
#include <string>

#include "concurrency/lease.h"
#include "concurrency/preconditions.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::headers {

// The names of conditional headers, which differ for the source of a copy.
struct ConditionHeaders {
  std::string_view if_match = "If-Match";
  std::string_view if_none_match = "If-None-Match";
  std::string_view if_modified_since = "If-Modified-Since";
  std::string_view if_unmodified_since = "If-Unmodified-Since";
  std::string_view if_tags = "x-ms-if-tags";
};

// What an operation's conditional headers ask, already found to be a combination that the operation
// takes.
struct Asked {
  concurrency::Operation operation = concurrency::Operation::kUpdate;
  concurrency::ConditionSet accepts;
  concurrency::Conditions conditions;
  // What unmet conditions but those on tags are called,
  wire::Code unmet = wire::Code::kConditionNotMet;
  // and an If-Match that names no ETag which an object could have.
  wire::Code if_match_foreign = wire::Code::kConditionNotMet;
};

wire::Result<Asked> decode_conditions(const service::Call& call, concurrency::Operation operation,
                                      concurrency::ConditionSet accepts,
                                      const ConditionHeaders& names = {});

// For operations that take no conditional header: 400 when one is there.
wire::Result<void> refuse_conditions(const service::Call& call);

// A read is judged by the rules of the request's version.
concurrency::Operation read_operation(const service::Call& call);

// Decides against the target; a verdict against becomes its error.
wire::Result<void> check_conditions(const Asked& asked, const concurrency::Target& target);

// x-ms-lease-id (or another header that carries a GUID); not a GUID: 400.
wire::Result<std::optional<std::string>> decode_guid(const service::Call& call,
                                                     std::string_view header);
inline wire::Result<std::optional<std::string>> decode_lease_id(const service::Call& call) {
  return decode_guid(call, "x-ms-lease-id");
}

// Which kind of object an error speaks of.
enum class Leased { kBlob, kContainer, kFile, kShare };
wire::Error lease_use_error(concurrency::LeaseUseError error, Leased object);
wire::Error lease_error(concurrency::LeaseError error);

}  // namespace kyanite::headers
