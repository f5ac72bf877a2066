// Get Blob: GET /{container}/{blob}
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "transfer/download.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

// One attempt; nothing when the blob was replaced between its head and its content being read.
Outcome try_get_blob(Call& call, const transfer::Download& wanted) {
  auto found = co_await read_blob(call, concurrency::kAcceptsAll, KeyUse::kNeeds);
  if (!found) co_return found.error();
  const Blob& blob = *found->blob;
  if (blob.tier == Tier::kArchive) co_return wire::Error(Code::kBlobArchived);
  http::Reply reply;
  reply.head.reserve(1024);
  encode_properties(reply, call, *found);
  if (!blob.http.content_md5.empty()) {
    reply.header(wanted.range ? "x-ms-blob-content-md5" : "Content-MD5",
                 base64(blob.http.content_md5));
  }
  const content::Place place = found->place.content();
  const store::Guard head{head_key(found->place, found->row), found->record};
  auto attached = co_await transfer::attach_content(call, reply, wanted, place, blob.content, head,
                                                    cipher_of(found->key));
  if (!attached) co_return attached.error();
  co_return std::move(reply);
}

}  // namespace

Outcome get_blob(Call& call) {
  auto wanted = transfer::decode_download(call);
  if (!wanted) co_return wanted.error();
  auto get = [&] { return try_get_blob(call, *wanted); };
  co_return co_await service::answer_whole(call, get);
}

}  // namespace kyanite::blob
