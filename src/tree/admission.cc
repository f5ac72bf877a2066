#include "tree/admission.h"

#include <utility>

namespace kyanite::tree {

Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why,
                         HandleId by) {
  if (why != Error(Refusal::kCached)) co_return why;
  attempt.end();
  auto given = co_await tree.open_files->given_back(file, attempt.occasion().deadline, by);
  if (!given) co_return given.error();
  co_return Error(store::Error::kConflict);
}

Task<Result<Located>> locate_admitted(store::Attempt& attempt, const Tree& tree, const Path& path,
                                      const Rules& rules, Admitting& admitting) {
  admitting.begin();
  auto located = co_await locate_for_change(attempt, tree, path, rules.kind);
  if (!located) co_return located.error();
  const FileKey key = located->key();
  auto admitted = tree.open_files->admit(key, rules.operation, admitting.awaited);
  if (!admitted) co_return co_await not_admitted(attempt, tree, key, admitted.error());
  admitting.admission = std::move(*admitted);
  const Time now = attempt.occasion().now;
  if (auto passed = check_entry(rules, located->found.entry.get(), now); !passed)
    co_return passed.error();
  co_return std::move(*located);
}

}  // namespace kyanite::tree
