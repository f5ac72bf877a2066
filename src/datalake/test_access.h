// Callers who are held to access control of paths, or to what a SAS says, and a lake to hold them
// to it in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datalake/test_support.h"

namespace kyanite::datalake {

using auth::Caller;
using auth::Role;

inline constexpr const char* kRefused = "403 AuthorizationPermissionMismatch";

inline Caller bearer(std::string object_id, Role role = Role::kNone,
                     std::vector<std::string> groups = {}) {
  Caller caller;
  caller.kind = Caller::Kind::kBearer;
  caller.object_id = std::move(object_id);
  caller.role = role;
  caller.groups = std::move(groups);
  return caller;
}

inline Caller delegated(std::string object_id, std::string_view letters, Role role,
                        bool names_user) {
  Caller caller = bearer(std::move(object_id), role);
  caller.kind = Caller::Kind::kUserDelegationSas;
  caller.permissions = letters;
  caller.scope = auth::Scope::kContainer;
  caller.container = "lake";
  caller.names_user = names_user;
  return caller;
}

class Lake : public TestLake {
 public:
  Answer as(const Caller& caller, Request request) {
    request.caller = caller;
    return send(std::move(request));
  }
  void make(const std::string& directory) {
    ASSERT_EQ(send(make_directory(directory)).outcome(), "201");
  }
  void write(const std::string& file) { ASSERT_EQ(send(put(file, "content")).outcome(), "201"); }
  // Gives the named user these bits, and nobody else any but the owner.
  void grant(const std::string& path, const std::string& bits, const std::string& who = "ann") {
    set(path, {{"x-ms-acl", "user::rwx,group::---,other::---,user:" + who + ":" + bits}});
  }
  void set(const std::string& path, Headers headers) {
    ASSERT_EQ(send({"PATCH", path, "action=setAccessControl", std::move(headers)}).outcome(), "200")
        << path;
  }
  std::string acl(const std::string& path) {
    return send({"HEAD", path, "action=getAccessControl"}).header("x-ms-acl");
  }
  std::string owner_of(const std::string& path) {
    return send({"HEAD", path, "action=getAccessControl"}).header("x-ms-owner");
  }
};

}  // namespace kyanite::datalake
