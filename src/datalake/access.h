// Who may set access control, and what Check Access answers. That callers may do what they do
// besides is asked in one place for both APIs, blob/admission.h.
#pragma once

#include "auth/posix_access.h"
#include "base/task.h"
#include "blob/blob.h"
#include "datalake/access_headers.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// Check Access: whether the caller has these bits there, by its role or by access control.
bool has_bits(const service::Call& call, const blob::Way& way, const blob::Blob& blob,
              auth::posix::Bits wanted);

// Whether the caller may give the path what is ordered. A SAS takes letters for it: `p` for
// permissions and lists, `o` for owner and group, and with `e` who owns the path may set all but
// the owner. Whoever is held to access control must own the path, and gives it to nobody else.
wire::Result<void> may_set(const service::Call& call, const AccessOrder& order,
                           const blob::Blob& blob);

// The same of a path that is being made, which takes no letters.
wire::Result<void> may_give(const service::Call& call, const AccessOrder& order,
                            const blob::Blob& blob);

// 400 in containers without directories, where there is none of it, whatever the path.
Task<wire::Result<void>> require_hierarchy(service::Call& call);

// A SAS that reaches nothing that lies below its path.
bool is_of_one_path(const auth::Caller& caller);

}  // namespace kyanite::datalake
