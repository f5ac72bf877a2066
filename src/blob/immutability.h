// What the operations on immutability policies and legal holds share.
#pragma once

#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

inline constexpr Rules kPolicies{
    concurrency::LeaseUse::kShared, concurrency::Operation::kUpdate,
    concurrency::ConditionSet(concurrency::Condition::kIfUnmodifiedSince), Keep::kNothing, false};

inline wire::Result<void> check_immutability_offered(const service::Call& call) {
  if (call.settings().blob_immutability) return {};
  return wire::Error(wire::Code::kBlobOperationNotSupported)
      .saying("Immutability policies and legal holds are switched off for this account.");
}

// Where there are directories a tree goes as one step, without a look at each file: a promise to
// keep one of them could not be held. The service offers none there either.
inline wire::Result<void> check_can_be_held(const Blob& blob) {
  if (!blob.node) return {};
  return wire::Error(wire::Code::kBlobOperationNotSupported)
      .saying("With hierarchical namespace there are no policies and holds of single blobs.");
}

}  // namespace kyanite::blob
