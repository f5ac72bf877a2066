// Get Share Stats: GET /{share}?restype=share&comp=stats
#include "file/handlers.h"
#include "file/refusals.h"
#include "file/service.h"
#include "file/share.h"
#include "tree/drafts.h"
#include "wire/xml.h"

namespace kyanite::file {

namespace {

// Older clients are told whole gibibytes.
constexpr wire::Version kUsageInBytes{20181109};

// The lengths of all files. Every entry is looked at.
Task<store::Result<uint64_t>> count_bytes(service::Call& call, store::SpaceId space) {
  uint64_t bytes = 0;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    auto value = cursor.value();
    if (!value) return value.error();
    const auto entry = store::decode<Entry>(*value);
    if (!entry) return store::Error::kCorrupt;
    bytes += entry->content.length;
    return true;
  };
  auto done = co_await store::scan(
      call.store(), store::Range::rows(space, tree::kEntries, kSharePartition), see, call.deadline);
  if (!done) co_return done.error();
  co_return bytes;
}

}  // namespace

Outcome get_share_stats(service::Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto share = co_await read_share(call);
  if (!share) co_return share.error();
  co_await open_files(call).drafts().settle_share_if_possible((*share)->space, call.deadline);
  auto bytes = co_await count_bytes(call, (*share)->space);
  if (!bytes) co_return service::storage_error(bytes.error());
  wire::XmlWriter xml;
  xml.open("ShareStats");
  if (call.version >= kUsageInBytes) {
    xml.element("ShareUsageBytes", *bytes);
  } else {
    constexpr uint64_t kGib = uint64_t{1} << 30;
    xml.element("ShareUsage", (*bytes + kGib - 1) / kGib);
  }
  xml.close("ShareStats");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::file
