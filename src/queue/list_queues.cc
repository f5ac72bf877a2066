// List Queues: GET /?comp=list
#include "queue/handlers.h"
#include "queue/queue.h"
#include "service/directory.h"
#include "service/listing.h"
#include "wire/xml.h"

namespace kyanite::queue {

Outcome list_queues(service::Call& call) {
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, {"metadata"});
  if (!include) co_return include.error();
  const bool with_metadata = include->contains("metadata");

  wire::XmlWriter xml;
  xml.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
  service::write_page(xml, *page);
  xml.open("Queues");
  const auto directory = service::directory_space(call.target.account);
  const auto range =
      store::Range::partition_prefix(directory, service::kQueuesFamily, page->prefix);
  std::string next_marker;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    if (!page->start.empty())
      cursor->seek(store::Key(directory, service::kQueuesFamily, page->start).bytes());
    for (uint64_t count = 0; cursor->valid(); cursor->next(), ++count) {
      const std::string name = store::Key::from_bytes(std::string(cursor->key())).partition();
      if (count == page->most) {
        next_marker = service::write_marker(name);
        break;
      }
      xml.open("Queue").element("Name", name);
      if (with_metadata) {
        auto record = cursor->record();
        if (!record) return record.error();
        const auto queue = store::decode<Queue>((*record)->value);
        if (!queue) return store::Error::kCorrupt;
        service::write_metadata(xml, queue->metadata);
      }
      xml.close("Queue");
    }
    return cursor->status();
  });
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Queues").element("NextMarker", next_marker).close("EnumerationResults");
  co_return uncached_document(xml.take());
}

}  // namespace kyanite::queue
