// List Queues: GET /?comp=list
#include "lifetime/directory.h"
#include "queue/handlers.h"
#include "queue/queue.h"
#include "transfer/listing.h"
#include "wire/xml.h"

namespace kyanite::queue {

Outcome list_queues(service::Call& call) {
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto include = transfer::decode_include(call, {"metadata"});
  if (!include) co_return include.error();
  const bool with_metadata = include->contains("metadata");

  wire::XmlWriter xml;
  xml.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
  transfer::write_page(xml, *page);
  xml.open("Queues");
  const auto directory = lifetime::directory_space(call.target.account);
  auto range = store::Range::partition_prefix(directory, lifetime::kQueuesFamily, page->prefix);
  if (!page->start.empty()) {
    range.start_at(store::Key(directory, lifetime::kQueuesFamily, page->start).bytes());
  }
  std::string next_marker;
  uint64_t count = 0;
  const store::See see = [&](const store::View::Cursor& cursor) -> store::Result<bool> {
    const std::string name = store::Key::from_bytes(std::string(cursor.key())).partition();
    if (count++ == page->most) {
      next_marker = transfer::write_marker(name);
      return false;
    }
    xml.open("Queue").element("Name", name);
    if (with_metadata) {
      auto record = cursor.record();
      if (!record) return record.error();
      const auto queue = store::decode<Queue>((*record)->value);
      if (!queue) return store::Error::kCorrupt;
      headers::write_metadata(xml, queue->metadata);
    }
    xml.close("Queue");
    return true;
  };
  auto listed = co_await store::scan(call.store(), std::move(range), see, call.deadline);
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Queues").element("NextMarker", next_marker).close("EnumerationResults");
  co_return uncached_document(xml.take());
}

}  // namespace kyanite::queue
