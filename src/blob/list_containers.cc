// List Containers: GET /?comp=list
#include <optional>

#include "blob/container.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "transfer/listing.h"
#include "wire/date.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;

namespace {

// Until then every container had its URL, instead of the endpoint once for all.
constexpr wire::Version kEndpointOfLists{20130815};

using ListedContainer = lifetime::Listed<Container>;

void write_container(wire::XmlWriter& xml, const Call& call, const ListedContainer& listed,
                     bool with_metadata) {
  const Container& container = listed.value;
  xml.open("Container").element("Name", listed.name);
  if (call.version < kEndpointOfLists) xml.element("Url", call.endpoint + listed.name);
  if (listed.deletion) {
    xml.element("Deleted", "true");
    xml.element("Version", lifetime::deletion_version(listed.deletion->deleted));
  }
  xml.open("Properties");
  xml.element("Last-Modified", wire::http_date(container.changed));
  xml.element("Etag", concurrency::ETag{container.changed}.quoted());
  if (listed.deletion) {
    xml.element("LeaseStatus", "unlocked").element("LeaseState", "expired");
  } else {
    headers::write_lease(xml, container.lease, call.now);
  }
  xml.optional("PublicAccess", name(container.public_access));
  if (call.version >= wire::kEncryptionScopes) {
    xml.element("DefaultEncryptionScope", "$account-encryption-key");
    xml.element("DenyEncryptionScopeOverride", "false");
  }
  xml.element("HasImmutabilityPolicy", "false");
  xml.element("HasLegalHold", "false");
  if (call.version >= wire::kVersionLevelImmutability)
    xml.element("ImmutableStorageWithVersioningEnabled", "false");
  if (listed.deletion) {
    xml.element("DeletedTime", wire::http_date(listed.deletion->deleted));
    xml.element("RemainingRetentionDays",
                lifetime::remaining_days(listed.deletion->removal, call.now));
  }
  xml.close("Properties");
  if (with_metadata) headers::write_metadata(xml, container.metadata);
  xml.close("Container");
}

}  // namespace

Outcome list_containers(Call& call) {
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto include = transfer::decode_include(call, {"metadata", "deleted", "system"});
  if (!include) co_return include.error();

  wire::XmlWriter xml;
  xml.open("EnumerationResults")
      .attribute(call.version < kEndpointOfLists ? "AccountName" : "ServiceEndpoint",
                 call.endpoint);
  transfer::write_page(xml, *page);
  xml.open("Containers");
  std::string next_marker;
  uint64_t count = 0;
  const auto see = [&](const lifetime::Listed<Container>& listed,
                       const store::View&) -> store::Result<bool> {
    if (count++ == page->most) {
      next_marker = transfer::write_marker(listed.name);
      return false;
    }
    write_container(xml, call, listed, include->contains("metadata"));
    return true;
  };
  const auto deleted = include->contains("deleted")
                           ? std::optional(lifetime::kDeletedContainersFamily)
                           : std::nullopt;
  lifetime::Walk walk{lifetime::kContainersFamily, deleted, page->prefix, page->start};
  auto done = co_await lifetime::walk_directory<Container>(call, std::move(walk), see);
  if (!done) co_return service::storage_error(done.error());
  xml.close("Containers").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
