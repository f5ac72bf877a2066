// Path - Update (append): PATCH /{filesystem}/{path}?action=append&position=...
//
// The bytes lie apart until they are flushed. Appends of many clients to one file change no record
// together, so they do not wait for each other. To an append blob they are added at once.
#include "base/random.h"
#include "blob/append_block.h"
#include "blob/new_blob.h"
#include "datalake/drafts.h"
#include "datalake/handlers.h"
#include "headers/http_properties.h"
#include "transfer/upload.h"
#include "wire/version.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;
using wire::Code;

namespace {

uint64_t max_append_bytes(wire::Version version) {
  constexpr uint64_t kMiB = 1024 * 1024;
  return version >= wire::kLargeBlocks ? 4000 * kMiB : 100 * kMiB;
}

// Keeps the bytes for a flush. The file itself changes only by what is said of its lease. False:
// nothing was done, as they are to be added at once.
Task<wire::Result<bool>> stage(Call& call, const blob::Checks& checks, const LeaseOrder& lease,
                               uint64_t position, const content::Pieces& pieces) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<bool>> {
    store::Commit& commit = attempt.commit;
    auto found = co_await blob::find_blob(call);
    if (!found) co_return found.error();
    Blob blob = *found->blob;
    if (auto passed = blob::check_blob(call, checks, blob); !passed) co_return passed.error();
    auto writable = check_writable(blob, Code::kInvalidAppendOperation);
    if (!writable) co_return writable.error();
    if (blob.type == blob::BlobType::kAppend) co_return false;
    const auto key = blob::head_key(found->place);
    commit.expect(key, found->record);
    if (found->place.way() != nullptr) blob::guard(*found->place.way(), false, commit);
    if (auto leased = begin_lease_order(lease, call.now, blob); !leased) co_return leased.error();
    if (auto released = end_lease_order(lease, call.now, blob); !released)
      co_return released.error();
    // What the Blob API made as a whole can be written on.
    if (blob.draft == 0) blob.draft = random_u64() | 1;
    if (lease.kind != LeaseOrder::Kind::kNone || blob.draft != found->blob->draft)
      commit.put(key, service::to_record(blob));
    put_appended(found->place, blob, position, pieces, blob::key_sha256(checks.key), call.now,
                 commit);
    co_return true;
  };
  co_return co_await store::transact(call, decide);
}

// An append blob takes bytes at its end alone.
wire::Result<void> check_end(const Call& call, const Blob& blob, uint64_t position) {
  if (blob.type != blob::BlobType::kAppend) return {};
  if (blob.sealed) return wire::Error(Code::kBlobIsSealed);
  if (position != blob.content.length)
    return wire::invalid_query("position", call.query.get("position"));
  if (blob.committed_blocks >= blob::kMaxAppendBlocks)
    return wire::Error(Code::kBlockCountExceedsLimit);
  return {};
}

}  // namespace

Outcome append_data(Call& call) {
  auto position = decode_position(call);
  if (!position) co_return position.error();
  auto flushes = decode_flag(call, "flush");
  if (!flushes) co_return flushes.error();
  auto lease = decode_lease_order(call);
  if (!lease) co_return lease.error();
  blob::Rules rules = kWritesFile;
  if (!*flushes) rules.changes_data = false;
  auto checks = blob::decode_checks(call, rules);
  if (!checks) co_return checks.error();
  ease_lease_check(*lease, *checks);
  auto type = headers::decode_shown(call, "Content-Type");
  if (!type) co_return type.error();
  auto uploaded = co_await blob::receive_upload(call, *checks, max_append_bytes(call.version));
  if (!uploaded) co_return uploaded.error();
  if (uploaded->length == 0) co_return wire::invalid_header("Content-Length", "0");
  http::Reply reply(202);
  bool at_once = *flushes;
  if (!at_once) {
    auto staged = co_await stage(call, *checks, *lease, *position, uploaded->pieces);
    if (!staged) co_return staged.error();
    at_once = !*staged;
  }
  if (at_once) {
    auto edit = [&](blob::Change& change) -> Task<wire::Result<void>> {
      Blob& blob = *change.blob;
      auto writable = check_writable(blob, Code::kInvalidAppendOperation);
      if (!writable) co_return writable.error();
      const bool is_append_blob = blob.type == blob::BlobType::kAppend;
      // Another came to its place.
      if (!*flushes && !is_append_blob) co_return service::decide_again();
      if (auto fits = check_end(call, blob, *position); !fits) co_return fits.error();
      if (auto leased = begin_lease_order(*lease, call.now, blob); !leased)
        co_return leased.error();
      auto flushed =
          co_await flush(call, change, *position + uploaded->length, true, uploaded->pieces);
      if (!flushed) co_return flushed.error();
      if (is_append_blob) ++blob.committed_blocks;
      // What the body is sent as becomes the type of the whole.
      if (*flushes) {
        headers::HttpProperties said;
        said.content_type = *type;
        replace_properties(std::move(said), blob);
      }
      co_return end_lease_order(*lease, call.now, blob);
    };
    auto changed = co_await blob::change_blob(call, *checks, edit);
    if (!changed) co_return changed.error();
    blob::encode_changed(reply, changed->changed);
  }
  if (call.headers().has("Content-MD5") || call.headers().has("x-ms-content-crc64"))
    transfer::encode_hash(reply, *uploaded);
  blob::encode_encrypted(reply, checks->key);
  transfer::encode_structured(reply, *uploaded);
  encode_lease_order(reply, *lease);
  co_return reply;
}

}  // namespace kyanite::datalake
