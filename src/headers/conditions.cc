#include "headers/conditions.h"

#include <algorithm>

#include "concurrency/guid.h"
#include "wire/date.h"
#include "wire/version.h"

namespace kyanite::headers {

using concurrency::Condition;
using concurrency::Verdict;
using wire::Code;

namespace {

wire::Error verdict_error(Verdict verdict) {
  switch (verdict) {
    case Verdict::kProceed:
      break;
    case Verdict::kNotModified:
      return wire::Error(Code::kConditionNotMet, 304);
    case Verdict::kConditionNotMet:
      return Code::kConditionNotMet;
    case Verdict::kAlreadyExists:
      return Code::kBlobAlreadyExists;
    case Verdict::kTargetMissing:
      return Code::kBlobNotFound;
    case Verdict::kMultipleNotSupported:
      return Code::kMultipleConditionHeadersNotSupported;
    case Verdict::kUnsatisfiable:
      return Code::kUnsatisfiableCondition;
    case Verdict::kNotSupported:
      return Code::kConditionHeadersNotSupported;
  }
  CHECK(false);
}

// Whether no object can have any of the tags.
bool is_foreign(const concurrency::TagList& list) {
  return !list.any && std::none_of(list.tags.begin(), list.tags.end(),
                                   [](const auto& tag) { return tag.etag.changed.set(); });
}

wire::Result<std::optional<Time>> decode_date(const service::Call& call, std::string_view header) {
  auto text = call.headers().find(header);
  if (!text || text->empty()) return std::optional<Time>();
  auto time = wire::parse_http_date(*text);
  if (!time) return wire::invalid_header(header, *text);
  return time;
}

std::optional<std::string_view> present(const service::Call& call, std::string_view header) {
  auto text = call.headers().find(header);
  return text && !text->empty() ? text : std::nullopt;
}

}  // namespace

concurrency::Operation read_operation(const service::Call& call) {
  return call.version >= wire::kMixedReadConditions ? concurrency::Operation::kRead
                                                    : concurrency::Operation::kReadBefore2013;
}

wire::Result<Asked> decode_conditions(const service::Call& call, concurrency::Operation operation,
                                      concurrency::ConditionSet accepts,
                                      const ConditionHeaders& names) {
  auto modified_since = decode_date(call, names.if_modified_since);
  if (!modified_since) return modified_since.error();
  auto unmodified_since = decode_date(call, names.if_unmodified_since);
  if (!unmodified_since) return unmodified_since.error();
  auto conditions = concurrency::parse_conditions(
      present(call, names.if_match), present(call, names.if_none_match), *modified_since,
      *unmodified_since, present(call, names.if_tags).has_value());
  if (!conditions) {
    const auto name =
        conditions.error() == Condition::kIfMatch ? names.if_match : names.if_none_match;
    return wire::invalid_header(name, call.headers().get(name));
  }
  Asked asked;
  asked.operation = operation;
  asked.accepts = accepts;
  asked.conditions = std::move(*conditions);
  const auto checked = concurrency::check_headers(operation, accepts, asked.conditions);
  if (!checked.proceeds()) return verdict_error(checked.verdict);
  return asked;
}

wire::Result<void> refuse_conditions(const service::Call& call) {
  auto asked = decode_conditions(call, concurrency::Operation::kUpdate, concurrency::kAcceptsNone);
  if (!asked) return asked.error();
  return {};
}

wire::Result<void> check_conditions(const Asked& asked, const concurrency::Target& target) {
  const auto decision =
      concurrency::evaluate(asked.operation, asked.accepts, asked.conditions, target);
  if (decision.proceeds()) return {};
  if (decision.verdict != Verdict::kConditionNotMet || decision.unmet == Condition::kIfTags)
    return verdict_error(decision.verdict);
  const bool foreign =
      decision.unmet == Condition::kIfMatch && is_foreign(*asked.conditions.if_match);
  return wire::Error(foreign ? asked.if_match_foreign : asked.unmet);
}

wire::Result<std::optional<std::string>> decode_guid(const service::Call& call,
                                                     std::string_view header) {
  auto text = call.headers().find(header);
  if (!text || text->empty()) return std::optional<std::string>();
  auto id = concurrency::parse_guid(*text);
  if (!id) return wire::invalid_header(header, *text);
  return id;
}

wire::Error lease_use_error(concurrency::LeaseUseError error, Leased object) {
  const bool blob = object == Leased::kBlob;
  // A share is a container under another name.
  const bool container = object == Leased::kContainer || object == Leased::kShare;
  const std::string_view noun = blob                       ? "blob"
                                : object == Leased::kShare ? "file share"
                                : container                ? "container"
                                                           : "file";
  switch (error) {
    case concurrency::LeaseUseError::kIdMissing:
      return wire::Error(Code::kLeaseIdMissing)
          .saying("There is currently a lease on the " + std::string(noun) +
                  " and no lease ID was specified in the request.");
    case concurrency::LeaseUseError::kIdMismatch:
      return blob        ? Code::kLeaseIdMismatchWithBlobOperation
             : container ? Code::kLeaseIdMismatchWithContainerOperation
                         : Code::kLeaseIdMismatchWithFileOperation;
    case concurrency::LeaseUseError::kNotPresent:
      return blob        ? Code::kLeaseNotPresentWithBlobOperation
             : container ? Code::kLeaseNotPresentWithContainerOperation
                         : Code::kLeaseNotPresentWithFileOperation;
    case concurrency::LeaseUseError::kLost:
      return wire::Error(Code::kLeaseLost)
          .saying("A lease ID was specified, but the lease for the " + std::string(noun) +
                  " has expired.");
    case concurrency::LeaseUseError::kInfiniteRequired:
      return Code::kInfiniteLeaseDurationRequired;
  }
  CHECK(false);
}

wire::Error lease_error(concurrency::LeaseError error) {
  switch (error) {
    case concurrency::LeaseError::kAlreadyPresent:
      return Code::kLeaseAlreadyPresent;
    case concurrency::LeaseError::kIdMismatch:
      return Code::kLeaseIdMismatchWithLeaseOperation;
    case concurrency::LeaseError::kNotPresent:
      return Code::kLeaseNotPresentWithLeaseOperation;
    case concurrency::LeaseError::kIsBreakingAndCannotBeAcquired:
      return Code::kLeaseIsBreakingAndCannotBeAcquired;
    case concurrency::LeaseError::kIsBreakingAndCannotBeChanged:
      return Code::kLeaseIsBreakingAndCannotBeChanged;
    case concurrency::LeaseError::kIsBrokenAndCannotBeRenewed:
      return Code::kLeaseIsBrokenAndCannotBeRenewed;
  }
  CHECK(false);
}

}  // namespace kyanite::headers
