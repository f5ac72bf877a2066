// Whether the access control of paths lets a caller do what its operation is (auth::Need::act): the
// one place where it is asked, for both APIs. Only those are asked whose role does not decide
// (auth::asks_paths), so that everybody else and every container without directories pays nothing.
//
// Who follows a path is held to the directories on it by follow(). Who then finds or changes what
// is at its end asks here, from the same heads that guard its commit.
#pragma once

#include <string_view>
#include <vector>

#include "auth/posix_access.h"
#include "base/task.h"
#include "blob/hierarchy.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

// Whether this call is decided by access control of paths.
bool asks_paths(const service::Call& call);

// 403 AuthorizationPermissionMismatch.
wire::Error not_admitted();

// To go through a directory.
wire::Result<void> admit_through(const service::Call& call, const Blob& directory);

// To do it with what is at the end of the way. `object` is null where nothing is: then only making
// it is asked about, as who may come this far may know that nothing is there.
wire::Result<void> admit(const service::Call& call, auth::posix::Act act, const Way& way,
                         const Blob* object);
// To do what the operation is.
wire::Result<void> admit(const service::Call& call, const Way& way, const Blob* object);

// The same for blocks that wait to be committed: they have no access control of their own, so that
// it takes what making the blob takes.
wire::Result<void> admit_uncommitted(const service::Call& call, const Way& way);

// To list a directory that a listing comes to; it came through those above.
wire::Result<void> admit_listing(const service::Call& call, const Blob& directory);
bool may_list(const auth::posix::Identity& identity, const Blob& directory);
// To list from the path `first` on what lies in `directory`, both in the container: the directory,
// and those below it that lead to the path.
Task<wire::Result<void>> admit_listing(service::Call& call, const Container& container,
                                       std::string_view directory, std::string_view first = {});

// The access control of the directories that lead to the end of the way.
std::vector<const auth::posix::AccessControl*> parents_on(const Way& way);

}  // namespace kyanite::blob
