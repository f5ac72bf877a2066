// The source of a copy into a file: a file or blob of this server, which shares its bytes, or
// anything another server offers over HTTP.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "file/entry.h"
#include "transfer/copy_source.h"
#include "transfer/source_object.h"

namespace kyanite::file {

struct Source {
  std::string url;  // As the copy's properties show it: without the SAS signature.
  std::unique_ptr<transfer::SourceCall> call;  // Set when it is in this server:
  transfer::SourceObject object;               // this,
  std::optional<Located> file;                 // which is a file if this is set.
  std::unique_ptr<http::Fetched> fetched;      // Else set: the reply of the other server.

  bool is_local() const { return call != nullptr; }
};

// The file that an authorized call of Get File addresses, of which this range is read or the whole,
// and what a copy needs of it.
Task<wire::Result<Located>> find_source_file(service::Call& call,
                                             const std::optional<headers::ByteRange>& range);
transfer::SourceObject source_object(const Located& file);

// Copy File trusts the owner of the account with its own sources; Put Range From URL always wants
// credentials for them.
enum class SourceTrust { kAccount, kNone };

// What a client is told when reading the source fails with `own`.
wire::Error source_error(const wire::Error& own);

// Finds the source and sees that it may be read. With a range another server is asked for that part
// only.
Task<wire::Result<Source>> open_source(service::Call& call, SourceTrust trust,
                                       const std::optional<headers::ByteRange>& range = {});

}  // namespace kyanite::file
