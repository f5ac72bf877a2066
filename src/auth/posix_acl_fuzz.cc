// Whatever is accepted reads back the same, however it is applied, and stays within the limits.
#include "auth/posix_acl.h"
#include "base/check.h"

namespace {
using namespace kyanite::auth::posix;

void check(const AccessControl& control) {
  for (const List* list : {&control.access, control.defaults ? &*control.defaults : nullptr}) {
    if (list == nullptr) continue;
    CHECK(list->size() <= kMaxEntries);
    CHECK(list->mask || (list->users.empty() && list->groups.empty()));
  }
  const auto entries = parse_entries(print_acl(control), Edit::kReplace);
  CHECK(entries.ok());
  const auto again = edited(control, Edit::kReplace, *entries, true);
  CHECK(again.ok() && *again == control);
  CHECK(parse_permissions(print_permissions(control)).has_value());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  AccessControl control = new_root(kSuperuser);
  if (const auto permissions = parse_permissions(input)) {
    set_permissions(control, *permissions);
    CHECK(parse_permissions(print_permissions(control)) == permissions);
  }
  (void)parse_umask(input);

  // Lines are lists that are applied one after the other, in all ways in turn.
  constexpr Edit kEdits[] = {Edit::kReplace, Edit::kModify, Edit::kRemove, Edit::kSet};
  size_t at = 0;
  for (size_t turn = 0; turn < 16; ++turn) {
    const Edit edit = kEdits[turn % 4];
    const size_t end = std::min(input.find('\n', at), input.size());
    if (const auto entries = parse_entries(input.substr(at, end - at), edit)) {
      if (const auto file = edited(born(control, {}), edit, *entries, false)) {
        check(*file);
        CHECK(!file->defaults);
      }
      if (auto directory = edited(control, edit, *entries, true)) control = std::move(*directory);
      check(control);
      check(born(control, {.is_directory = true}));
    }
    if (end == input.size()) break;
    at = end + 1;
  }
  return 0;
}
