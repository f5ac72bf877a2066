// List Containers: GET /?comp=list
#include "blob/container.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"
#include "service/directory.h"
#include "service/listing.h"
#include "wire/date.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;

namespace {

void write_container(wire::XmlWriter& xml, const Call& call, std::string_view container_name,
                     const Container& container, bool with_metadata) {
  xml.open("Container").element("Name", container_name);
  xml.open("Properties");
  xml.element("Last-Modified", wire::http_date(container.changed));
  xml.element("Etag", concurrency::ETag{container.changed}.quoted());
  service::write_lease(xml, container.lease, call.now);
  xml.optional("PublicAccess", name(container.public_access));
  if (call.version >= wire::kEncryptionScopes) {
    xml.element("DefaultEncryptionScope", "$account-encryption-key");
    xml.element("DenyEncryptionScopeOverride", "false");
  }
  xml.element("HasImmutabilityPolicy", "false");
  xml.element("HasLegalHold", "false");
  if (call.version >= wire::kVersionLevelImmutability)
    xml.element("ImmutableStorageWithVersioningEnabled", "false");
  xml.close("Properties");
  if (with_metadata) service::write_metadata(xml, container.metadata);
  xml.close("Container");
}

}  // namespace

Outcome list_containers(Call& call) {
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, {"metadata", "deleted", "system"});
  if (!include) co_return include.error();
  const bool with_metadata = include->contains("metadata");

  wire::XmlWriter xml;
  xml.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
  service::write_page(xml, *page);
  xml.open("Containers");
  const auto directory = service::directory_space(call.target.account);
  const auto range =
      store::Range::partition_prefix(directory, service::kContainersFamily, page->prefix);
  std::string next_marker;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto cursor = view.scan(range);
    if (!page->start.empty())
      cursor->seek(store::Key(directory, service::kContainersFamily, page->start).bytes());
    uint64_t count = 0;
    for (; cursor->valid(); cursor->next()) {
      const std::string container_name =
          store::Key::from_bytes(std::string(cursor->key())).partition();
      if (count == page->most) {
        next_marker = service::write_marker(container_name);
        break;
      }
      auto record = cursor->record();
      if (!record) return record.error();
      const auto container = store::decode<Container>((*record)->value);
      if (!container) return store::Error::kCorrupt;
      write_container(xml, call, container_name, *container, with_metadata);
      ++count;
    }
    return cursor->status();
  });
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Containers").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
