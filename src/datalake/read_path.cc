// Path - Read: GET /{filesystem}/{path}
#include "base/bytes.h"
#include "datalake/handlers.h"
#include "datalake/path_reply.h"
#include "transfer/download.h"

namespace kyanite::datalake {

using service::Call;

namespace {

// One attempt; nothing when the file was replaced between its head and its content being read.
Outcome try_read(Call& call, const transfer::Download& wanted) {
  auto found = co_await blob::read_blob(call, concurrency::kAcceptsAll, blob::KeyUse::kNeeds);
  if (!found) co_return found.error();
  const blob::Blob& blob = *found->blob;
  if (blob.tier == blob::Tier::kArchive) co_return wire::Error(wire::Code::kBlobArchived);
  http::Reply reply;
  encode_path(reply, call, *found, true);
  if (!blob.http.content_md5.empty()) {
    reply.header(wanted.range ? "x-ms-content-md5" : "Content-MD5", base64(blob.http.content_md5));
  }
  const content::Place place = found->place.content();
  const store::Guard head{blob::head_key(found->place, found->row), found->record};
  auto attached = co_await transfer::attach_content(call, reply, wanted, place, blob.content, head,
                                                    blob::cipher_of(found->key));
  if (!attached) co_return attached.error();
  co_return std::move(reply);
}

}  // namespace

Outcome read_path(Call& call) {
  auto wanted = transfer::decode_download(call);
  if (!wanted) co_return wanted.error();
  auto read = [&] { return try_read(call, *wanted); };
  co_return co_await service::answer_whole(call, read);
}

}  // namespace kyanite::datalake
