// What somebody with an identity may do everywhere, before the access control of paths is asked.
// Azure keeps role assignments in its management plane; here they are configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::auth {

// Each may do what those before it may.
enum class Role : uint8_t {
  kNone,         // only what access control of paths grants
  kReader,       // reads and lists
  kContributor,  // writes and deletes as well
  kOwner,        // sets access control of everything as well: a superuser to it
};

std::optional<Role> parse_role(std::string_view name);

// Who has which role.
class Roles {
 public:
  explicit Roles(Role of_others = Role::kOwner) : of_others_(of_others) {}

  // `id` is the object id of a user, an application or a group.
  void give(std::string_view id, Role role);
  // What was given to this very id.
  std::optional<Role> given(std::string_view id) const;
  // The greatest of what was given to somebody and to their groups; else that of all others.
  Role of(std::string_view object_id, const std::vector<std::string>& groups) const;

 private:
  std::map<std::string, Role, std::less<>> given_;  // by id in lower case
  Role of_others_;
};

}  // namespace kyanite::auth
