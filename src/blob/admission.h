// Whether the access control of paths lets a caller do what its operation is (auth::Need::act): the
// one place where it is asked, for both APIs. Only those are asked whose role does not decide
// (auth::asks_paths), so that everybody else and every container without directories pays nothing.
//
// Who follows a path is held to the directories on it by follow(). Who then finds or changes what
// is at its end asks here, from the same heads that guard its commit.
#pragma once

#include <optional>
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

// Who is vouched for (saoid) is not asked, but in a directory with the sticky bit it removes only
// what is its own, unless its SAS makes it an owner (o).
bool is_held_to_sticky_bit(const auth::Caller& caller);
// Whom the sticky bit knows the caller as.
auth::posix::Identity held_identity(const auth::Caller& caller);

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

// Who lists a container with directories and is held to access control.
struct ListingAsker {
  auth::posix::Identity identity;
  Blob bare_root;  // The root until something of it was set.
};
// Nobody where access control is not asked.
std::optional<ListingAsker> listing_asker(const service::Call& call, const Container& container);

// To list a directory that a listing comes to; it came through those above.
bool may_list(const ListingAsker& asker, const Blob& directory);
// To come to a directory and to list it, as both are in this view: what is listed from a view is
// admitted by the same. To come to a file is enough. True where nothing is.
store::Result<bool> may_list(const store::View& view, store::SpaceId space,
                             const ListingAsker& asker, std::string_view directory);
// Before there is a view: to list from the path `first` on what lies in `directory`, both in the
// container: the directory, and those below it that lead to the path.
Task<wire::Result<void>> admit_listing(service::Call& call, const Container& container,
                                       std::string_view directory, std::string_view first = {});

// The access control of the directories that lead to the end of the way.
std::vector<const auth::posix::AccessControl*> parents_on(const Way& way);

}  // namespace kyanite::blob
