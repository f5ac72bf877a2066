#include "auth/role.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace kyanite::auth {

std::optional<Role> parse_role(std::string_view name) {
  static constexpr std::pair<std::string_view, Role> kNames[] = {
      {"none", Role::kNone},
      {"reader", Role::kReader},
      {"contributor", Role::kContributor},
      {"owner", Role::kOwner}};
  for (const auto& [known, role] : kNames) {
    if (name == known) return role;
  }
  return {};
}

void Roles::give(std::string_view id, Role role) { given_[ascii_lower(id)] = role; }

std::optional<Role> Roles::given(std::string_view id) const {
  const auto found = given_.find(ascii_lower(id));
  if (found == given_.end()) return {};
  return found->second;
}

Role Roles::of(std::string_view object_id, const std::vector<std::string>& groups) const {
  if (given_.empty()) return of_others_;
  std::optional<Role> greatest = given(object_id);
  for (const std::string& group : groups) {
    const auto role = given(group);
    if (role) greatest = std::max(greatest.value_or(Role::kNone), *role);
  }
  return greatest.value_or(of_others_);
}

}  // namespace kyanite::auth
