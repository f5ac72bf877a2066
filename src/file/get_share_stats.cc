// Get Share Stats: GET /{share}?restype=share&comp=stats
#include "file/handlers.h"
#include "file/share.h"
#include "wire/xml.h"

namespace kyanite::file {

namespace {

// Older clients are told whole gibibytes.
constexpr wire::Version kUsageInBytes{20181109};

// The lengths of all files. Every entry is looked at, on a thread that may take its time.
Task<store::Result<uint64_t>> usage(store::Store& store, store::SpaceId space) {
  uint64_t bytes = 0;
  auto done = co_await store.read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(store::Range::rows(space, kEntries, kSharePartition));
    for (; cursor->valid(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      const auto entry = store::decode<Entry>((*record)->value);
      if (!entry) return store::Error::kCorrupt;
      bytes += entry->content.length;
    }
    return cursor->status();
  });
  if (!done) co_return done.error();
  co_return bytes;
}

}  // namespace

Outcome get_share_stats(service::Call& call) {
  if (auto meant = require_share(call); !meant) co_return meant.error();
  auto share = co_await read_share(call);
  if (!share) co_return share.error();
  auto bytes = co_await usage(call.store(), (*share)->space);
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
