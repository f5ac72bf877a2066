#include "tree/admission.h"

namespace kyanite::tree {

Task<Error> not_admitted(store::Attempt& attempt, const Tree& tree, FileKey file, Error why) {
  if (why != Error(Refusal::kCached)) co_return why;
  attempt.end();
  auto given = co_await tree.open_files->given_back(file, attempt.occasion().deadline);
  if (!given) co_return given.error();
  co_return Error(store::Error::kConflict);
}

}  // namespace kyanite::tree
