#include "concurrency/preconditions.h"

#include "base/check.h"

namespace kyanite::concurrency {

ConditionSet Conditions::present() const {
  ConditionSet set;
  if (if_match) set = set | Condition::kIfMatch;
  if (if_none_match) set = set | Condition::kIfNoneMatch;
  if (if_modified_since) set = set | Condition::kIfModifiedSince;
  if (if_unmodified_since) set = set | Condition::kIfUnmodifiedSince;
  if (if_tags) set = set | Condition::kIfTags;
  return set;
}

Result<Conditions, Condition> parse_conditions(std::optional<std::string_view> if_match,
                                               std::optional<std::string_view> if_none_match,
                                               std::optional<Time> if_modified_since,
                                               std::optional<Time> if_unmodified_since,
                                               bool if_tags) {
  Conditions conditions;
  if (if_match) {
    conditions.if_match = parse_tag_list(*if_match);
    if (!conditions.if_match) return Condition::kIfMatch;
  }
  if (if_none_match) {
    conditions.if_none_match = parse_tag_list(*if_none_match);
    if (!conditions.if_none_match) return Condition::kIfNoneMatch;
  }
  conditions.if_modified_since = if_modified_since;
  conditions.if_unmodified_since = if_unmodified_since;
  conditions.if_tags = if_tags;
  return conditions;
}

namespace {

bool is_read(Operation operation) {
  return operation == Operation::kRead || operation == Operation::kReadBefore2013;
}

bool has_several_tags(const std::optional<TagList>& list) { return list && list->tags.size() > 1; }

// What writes, and reads before 2013-08-15, can carry: one header, or a tag and the date that goes
// the same way.
bool is_simple_mix(ConditionSet standard) {
  constexpr ConditionSet kCacheValidation = Condition::kIfNoneMatch | Condition::kIfModifiedSince;
  constexpr ConditionSet kLostUpdate = Condition::kIfMatch | Condition::kIfUnmodifiedSince;
  return standard.without(kCacheValidation).empty() || standard.without(kLostUpdate).empty();
}

// The headers that count. Where mixes are restricted, the tag makes the date beside it count for
// nothing.
ConditionSet in_force(Operation operation, ConditionSet accepts, const Conditions& conditions) {
  ConditionSet present = conditions.present();
  ConditionSet set = present.without(present.without(accepts));
  if (operation == Operation::kRead) return set;
  if (set.has(Condition::kIfMatch)) set = set.without(Condition::kIfUnmodifiedSince);
  if (set.has(Condition::kIfNoneMatch)) set = set.without(Condition::kIfModifiedSince);
  return set;
}

// Dates have whole seconds, as Last-Modified has: an object last changed within the date's second
// counts as unmodified.
bool modified_since(const Target& target, Time date) {
  return target.changed.seconds() > date.seconds();
}

// The two headers that guard against lost updates: 412 for every operation.
Decision evaluate_guards(ConditionSet set, const Conditions& conditions, const Target& target) {
  if (set.has(Condition::kIfMatch)) {
    const TagList& list = *conditions.if_match;
    bool matches = target.exists && (list.any || list.lists_strongly(ETag{target.changed}));
    if (!matches) return {Verdict::kConditionNotMet, Condition::kIfMatch};
  }
  if (set.has(Condition::kIfUnmodifiedSince) && target.changed.set() &&
      modified_since(target, *conditions.if_unmodified_since)) {
    return {Verdict::kConditionNotMet, Condition::kIfUnmodifiedSince};
  }
  return {};
}

// The two headers by which caches ask for something newer. If both count, either of them lets the
// operation proceed.
Decision evaluate_validators(Operation operation, ConditionSet set, const Conditions& conditions,
                             const Target& target) {
  const bool tag_counts = set.has(Condition::kIfNoneMatch);
  const bool date_counts = set.has(Condition::kIfModifiedSince) && target.changed.set();
  // No tag is that of what does not exist.
  if (tag_counts ? !target.exists : !date_counts) return {};

  if (tag_counts && conditions.if_none_match->any && operation == Operation::kCreate) {
    if (target.lease_held) return {};
    return {Verdict::kAlreadyExists, Condition::kIfNoneMatch};
  }
  if (tag_counts && !conditions.if_none_match->any &&
      !conditions.if_none_match->lists_weakly(ETag{target.changed})) {
    return {};
  }
  if (date_counts && modified_since(target, *conditions.if_modified_since)) return {};
  return {is_read(operation) ? Verdict::kNotModified : Verdict::kConditionNotMet,
          tag_counts ? Condition::kIfNoneMatch : Condition::kIfModifiedSince};
}

}  // namespace

Decision check_headers(Operation operation, ConditionSet accepts, const Conditions& conditions) {
  const ConditionSet present = conditions.present();
  ConditionSet refused = present.without(accepts);
  const ConditionSet considered = present.without(refused);
  if (is_read(operation)) {
    refused = refused.without(Condition::kIfNoneMatch | Condition::kIfModifiedSince);
  }
  if (!refused.empty()) return {Verdict::kNotSupported};

  // Nothing that can be read satisfies "no such object exists".
  if (is_read(operation) && considered.has(Condition::kIfNoneMatch) &&
      conditions.if_none_match->any) {
    return {Verdict::kUnsatisfiable, Condition::kIfNoneMatch};
  }
  if (operation == Operation::kRead) return {};
  const bool several_tags =
      (considered.has(Condition::kIfMatch) && has_several_tags(conditions.if_match)) ||
      (considered.has(Condition::kIfNoneMatch) && has_several_tags(conditions.if_none_match));
  if (several_tags || !is_simple_mix(considered.without(Condition::kIfTags))) {
    return {Verdict::kMultipleNotSupported};
  }
  return {};
}

Decision evaluate(Operation operation, ConditionSet accepts, const Conditions& conditions,
                  const Target& target) {
  CHECK(!target.exists || target.changed.set());
  if (!target.exists && operation != Operation::kCreate) return {Verdict::kTargetMissing};

  const ConditionSet set = in_force(operation, accepts, conditions);
  if (auto guards = evaluate_guards(set, conditions, target); !guards.proceeds()) return guards;
  auto validators = evaluate_validators(operation, set, conditions, target);
  if (!validators.proceeds()) return validators;
  if (set.has(Condition::kIfTags) && !target.tags_match) {
    return {Verdict::kConditionNotMet, Condition::kIfTags};
  }
  return {};
}

}  // namespace kyanite::concurrency
