// Set Blob Properties: PUT /{container}/{blob}?comp=properties
//
// Naming any of the content headers sets them all: those absent are cleared. Page blobs are resized
// and get sequence numbers here as well, and requests that only do that leave the content headers
// alone.
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/pages.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

struct PageChanges {
  std::optional<uint64_t> size;
  std::optional<concurrency::SequenceAction> action;
  std::optional<uint64_t> sequence_number;
  bool any() const { return size || action; }
};

wire::Result<PageChanges> decode_page_changes(const Call& call) {
  PageChanges changes;
  if (call.headers().has("x-ms-blob-content-length")) {
    auto size = decode_page_blob_size(call);
    if (!size) return size.error();
    changes.size = *size;
  }
  constexpr std::string_view kAction = "x-ms-sequence-number-action";
  if (const auto text = call.headers().find(kAction)) {
    if (equals_ignoring_case(*text, "max")) {
      changes.action = concurrency::SequenceAction::kMax;
    } else if (equals_ignoring_case(*text, "update")) {
      changes.action = concurrency::SequenceAction::kUpdate;
    } else if (equals_ignoring_case(*text, "increment")) {
      changes.action = concurrency::SequenceAction::kIncrement;
    } else {
      return wire::invalid_header(kAction, *text);
    }
  }
  auto number = decode_sequence_number(call);
  if (!number) return number.error();
  changes.sequence_number = *number;
  if (changes.sequence_number && !changes.action) return wire::missing_header(kAction);
  return changes;
}

wire::Error sequence_error(concurrency::SequenceError error) {
  constexpr std::string_view kNumber = "x-ms-blob-sequence-number";
  switch (error) {
    case concurrency::SequenceError::kValueMissing:
      return wire::missing_header(kNumber);
    case concurrency::SequenceError::kValueNotAllowed:
      return Code::kUnsupportedHeader;
    case concurrency::SequenceError::kValueOutOfRange:
      return wire::invalid_header(kNumber, "");
    case concurrency::SequenceError::kOverflow:
      return Code::kSequenceNumberIncrementTooLarge;
  }
  CHECK(false);
}

bool names_content_headers(const Call& call) {
  for (const std::string_view header :
       {"x-ms-blob-content-type", "x-ms-blob-content-encoding", "x-ms-blob-content-language",
        "x-ms-blob-content-disposition", "x-ms-blob-cache-control", "x-ms-blob-content-md5"}) {
    if (call.headers().has(header)) return true;
  }
  return false;
}

}  // namespace

Outcome set_blob_properties(Call& call) {
  auto properties = headers::decode_http_properties(call, headers::kBlobPropertyHeaders);
  if (!properties) co_return properties.error();
  auto changes = decode_page_changes(call);
  if (!changes) co_return changes.error();
  Rules rules = kChanges;
  rules.key = KeyUse::kVerifies;
  rules.needs_online = true;
  rules.takes_directories = true;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    Blob& blob = *change.blob;
    if (changes->any() && blob.type != BlobType::kPage)
      co_return wire::Error(Code::kInvalidBlobType);
    if (!changes->any() || names_content_headers(call)) blob.http = *properties;
    if (changes->size) {
      auto& content = blob.content;
      if (*changes->size < content.length) {
        auto cut = co_await content::overwrite(call.store(), change.commit, change.place.content(),
                                               content, *changes->size,
                                               content.length - *changes->size, {}, call.deadline);
        if (!cut) co_return service::storage_error(cut.error());
      }
      content.length = *changes->size;
    }
    if (changes->action) {
      auto number = concurrency::apply_sequence_action(*changes->action, blob.sequence_number,
                                                       changes->sequence_number);
      if (!number) co_return sequence_error(number.error());
      blob.sequence_number = *number;
    }
    touch(call, blob);
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, changed->changed);
  if (changed->type == BlobType::kPage)
    reply.header("x-ms-blob-sequence-number", changed->sequence_number);
  co_return reply;
}

}  // namespace kyanite::blob
