// The source of a copy, named by the URL in x-ms-copy-source: a blob of this server, which is found
// without a socket and shares its bytes, or anything another server offers over HTTP.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "blob/blob.h"
#include "concurrency/preconditions.h"
#include "headers/range.h"
#include "http/fetch.h"
#include "http/url.h"
#include "service/call.h"
#include "transfer/copy_source.h"
#include "transfer/upload.h"
#include "wire/error.h"

namespace kyanite::blob {

// The rules for the blob that a whole other one is copied to.
constexpr Rules copy_rules(concurrency::LeaseUse use, KeyUse key) {
  return {.use = use,
          .operation = concurrency::Operation::kCreate,
          .accepts = concurrency::kAcceptsAll,
          .keep = Keep::kState,
          .if_match_foreign = wire::Code::kTargetConditionNotMet,
          .key = key,
          .needs_online = true};
}

// The operations of the copy family differ in what they say of a source that they cannot use, and
// in whether a source of the same account needs credentials of its own.
enum class CopyFamily {
  kCopyBlob,
  kIncremental,  // Incremental Copy Blob
  kWhole,        // Copy Blob From URL, Put Blob From URL, Put Block From URL
  kPart,         // Append Block From URL, Put Page From URL
};
// Whether a source of the same account needs no credentials of its own, and is read when the
// request is answered already.
constexpr bool is_asynchronous(CopyFamily family) {
  return family == CopyFamily::kCopyBlob || family == CopyFamily::kIncremental;
}

// What the destination's client is told when reading the source fails with `own`.
wire::Error source_error(CopyFamily family, const wire::Error& own);
// Likewise when a condition on the source (x-ms-source-if-*) is not met.
wire::Error source_condition_error(CopyFamily family, const concurrency::Decision& unmet);

struct Source {
  http::Url full_url;
  std::string url;  // as the copy's properties show it: without the SAS signature
  std::unique_ptr<transfer::SourceCall> call;  // Set when it is in this server:
  // the blob with the key that came along for it, or a file as if it were a block blob.
  FoundBlob found;
  std::string partition;                   // of the space: where the content is
  store::Guard guard;                      // the record that names it
  std::unique_ptr<http::Fetched> fetched;  // Else set: the reply of the other server.

  bool is_local() const { return call != nullptr; }
  content::Place place() const { return {found.place.space(), partition}; }
  const store::Guard& head() const { return guard; }
};

// The blob that an authorized call of Get Blob addresses, unless it cannot be copied from.
Task<wire::Result<FoundBlob>> find_source_blob(service::Call& source);

// Finds the source, sees that it may be read, and checks the conditions on it. With a range another
// server is asked for that part only.
Task<wire::Result<Source>> open_source(service::Call& call, CopyFamily family,
                                       const std::optional<ByteRange>& range = {});

// What of a source is wanted.
struct Wanted {
  std::optional<ByteRange> range = {};
  uint64_t most = 0;  // 413 when it is more than that.
  Md5 md5 = Md5::kWhenSent;
  bool tags = false;  // Takes more than the permission to read.
  MaybeKey key = {};  // To encrypt what is taken with.
};

// Bytes of a source with what else is known of it.
struct Taken {
  std::string url;
  Uploaded uploaded;  // Pieces lie end to end from offset 0.
  BlobType type = BlobType::kBlock;
  HttpProperties http;
  headers::Metadata metadata;
  Tags tags;
};

// Opens the source and takes the wanted bytes: shares the pieces of a blob of this server unless
// they have to be encrypted anew, receives and stores those of other servers. Verifies
// x-ms-source-content-md5 and -crc64.
Task<wire::Result<Taken>> take_source(service::Call& call, CopyFamily family, const Wanted& wanted);

// x-ms-copy-source-tag-option: whether the copy gets the tags of the source instead of those of the
// request.
wire::Result<bool> decode_copies_tags(const service::Call& call);

// check_before_body() for copies. The service looks at the source before it tells that a condition
// of the destination is not met, unless that is If-Match: `postponed` is such an error, to be given
// once the source was found good.
struct Destination {
  std::optional<wire::Error> postponed;
};
Task<wire::Result<Destination>> check_destination(service::Call& call, const Checks& checks);

// receive_upload() for what comes from a source: looks at the destination, takes the wanted bytes,
// and gives the error that was postponed for that.
Task<wire::Result<Taken>> take_upload(service::Call& call, const Checks& checks, CopyFamily family,
                                      const Wanted& wanted);

}  // namespace kyanite::blob
