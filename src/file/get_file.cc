// Get File: GET /{share}/{path}; Get File Properties: HEAD; Get File Metadata: ?comp=metadata
#include <algorithm>

#include "base/bytes.h"
#include "file/entry.h"
#include "file/handlers.h"
#include "file/ranges.h"
#include "file/refusals.h"
#include "headers/metadata.h"
#include "transfer/download.h"

namespace kyanite::file {

using service::Call;
using wire::Code;

namespace {

// What SMB clients have locked for themselves is nobody else's to read.
wire::Result<void> check_locks(const Located& located, const transfer::Download& wanted) {
  if (located.tree.shown) return {};
  const uint64_t length = located.found.entry->content.length;
  const uint64_t first = wanted.range ? wanted.range->first : 0;
  const uint64_t last = wanted.range && wanted.range->last ? *wanted.range->last : length;
  const uint64_t end = std::min(length, last == UINT64_MAX ? last : last + 1);
  if (first >= end) return {};
  const auto free = located.tree.open_files->check_reading(located.key(), {first, end - first});
  if (!free) return refusal(free.error());
  return {};
}

// One attempt; nothing when the file was changed between its record and its content being read.
Outcome try_get_file(Call& call, const transfer::Download& wanted) {
  auto located = co_await read_file(call, concurrency::FileOperation::kGetFile);
  if (!located) co_return located.error();
  const Entry& file = *located->found.entry;
  if (auto free = check_locks(*located, wanted); !free) co_return free.error();
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
