// Get File: GET /{share}/{path}; Get File Properties: HEAD; Get File Metadata: ?comp=metadata
#include "base/bytes.h"
#include "file/entry.h"
#include "file/handlers.h"
#include "file/ranges.h"
#include "headers/metadata.h"
#include "transfer/download.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

// One attempt; nothing when the file was changed between its record and its content being read.
Outcome try_get_file(Call& call, const transfer::Download& wanted) {
  auto located = co_await read_content(call, wanted.range);
  if (!located) co_return located.error();
  const Entry& file = *located->found.entry;
  http::Reply reply;
  reply.head.reserve(1024);
  encode_file(reply, call, *located);
  if (!reply.has_header("Content-Type")) reply.header("Content-Type", kDefaultContentType);
  reply.header("Accept-Ranges", "bytes");
  if (!file.http.content_md5.empty()) {
    reply.header(wanted.range ? "x-ms-content-md5" : "Content-MD5", base64(file.http.content_md5));
  }
  const auto place = located->tree.content_place();
  const auto head = located->found.guard();
  auto attached = co_await transfer::attach_content(call, reply, wanted, place, file.content, head);
  if (!attached) co_return attached.error();
  co_return std::move(reply);
}

}  // namespace

Outcome get_file(Call& call) {
  auto wanted = transfer::decode_download(call);
  if (!wanted) co_return wanted.error();
  auto get = [&] { return try_get_file(call, *wanted); };
  co_return co_await service::answer_whole(call, get);
}

Outcome get_file_properties(Call& call) {
  auto located = co_await read_file(call, concurrency::FileOperation::kGetFileProperties);
  if (!located) co_return located.error();
  const Entry& file = *located->found.entry;
  http::Reply reply(200);
  encode_file(reply, call, *located);
  if (!file.http.content_md5.empty()) reply.header("Content-MD5", base64(file.http.content_md5));
  reply.stream_length = file.content.length;
  co_return reply;
}

Outcome get_file_metadata(Call& call) {
  auto located = co_await read_file(call, concurrency::FileOperation::kGetFileMetadata);
  if (!located) co_return located.error();
  http::Reply reply(200);
  headers::encode_changed(reply, located->found.entry->changed);
  headers::encode_metadata(reply, located->found.entry->metadata);
  co_return reply;
}

}  // namespace kyanite::file
