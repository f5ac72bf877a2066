#include "tree/admission.h"

#include <utility>

namespace kyanite::tree {

Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why) {
  if (why != Error(Refusal::kCached)) co_return why;
  attempt.end();
  auto given = co_await tree.open_files->given_back(file, attempt.occasion().deadline);
  if (!given) co_return given.error();
  co_return Error(store::Error::kConflict);
}

Task<Result<Located>> locate_admitted(store::Attempt& attempt, const Tree& tree, const Path& path,
                                      const Rules& rules, OpenFiles::Admission& admission) {
  admission = {};
  auto located = co_await locate_for_change(attempt, tree, path, rules.kind);
  if (!located) co_return located.error();
  auto admitted = tree.open_files->admit(located->key(), rules.operation, attempt.is_first());
  if (!admitted) co_return co_await not_admitted(attempt, tree, located->key(), admitted.error());
  admission = std::move(*admitted);
  const Time now = attempt.occasion().now;
  if (auto passed = check_entry(rules, located->found.entry.get(), now); !passed)
    co_return passed.error();
  co_return std::move(*located);
}

}  // namespace kyanite::tree
