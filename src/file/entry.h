// Reading and changing files and directories: the decoding and encoding that the operations on them
// share around tree/change.h.
#pragma once

#include <functional>
#include <optional>

#include "base/task.h"
#include "concurrency/lease.h"
#include "concurrency/share_mode.h"
#include "file/handlers.h"
#include "file/names.h"
#include "file/share.h"
#include "file/smb_properties.h"
#include "headers/changed.h"
#include "headers/range.h"
#include "service/call.h"
#include "tree/change.h"
#include "wire/error.h"

namespace kyanite::file {

using tree::Changed;
using tree::Kind;
using tree::Located;
using tree::Rules;
using tree::touch;
using tree::Way;

// What the request addresses, in the share or the snapshot. 404 ParentNotFound, ResourceNotFound.
Task<wire::Result<Located>> locate(service::Call& call, Kind kind);

// For reads of a file: the lease id that was sent must be right, and no SMB client may have denied
// reading.
Task<wire::Result<Located>> read_file(service::Call& call, concurrency::FileOperation operation);
// For reads of its content, or of a range of that. What SMB clients have locked for themselves is
// nobody else's to read: kFileLockConflict.
Task<wire::Result<Located>> read_content(service::Call& call,
                                         const std::optional<headers::ByteRange>& range);
// A directory is never leased.
Task<wire::Result<Located>> read_directory(service::Call& call);

// tree::change_entry() of what the request addresses, with the lease id that it carries and an edit
// that refuses in the words of REST.
using Edit = std::function<Task<wire::Result<void>>(Entry& entry, store::Commit& commit,
                                                    const Located& before)>;
Task<wire::Result<Changed>> change_entry(service::Call& call, Rules rules, const Edit& edit);

// The reply to operations that create or change an entry: its new state.
http::Reply changed_reply(const service::Call& call, int status, const Changed& changed);

// What Get File and Get File Properties tell of a file.
void encode_file(http::Reply& reply, const service::Call& call, const Located& located);

}  // namespace kyanite::file
