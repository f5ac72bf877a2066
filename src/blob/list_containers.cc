// List Containers: GET /?comp=list
#include <memory>
#include <optional>

#include "blob/container.h"
#include "blob/deleted_containers.h"
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

struct Listed {
  std::string name;
  Container container;
  std::optional<DeletedContainer> deleted;
};

void write_container(wire::XmlWriter& xml, const Call& call, const Listed& listed,
                     bool with_metadata) {
  const Container& container = listed.container;
  xml.open("Container").element("Name", listed.name);
  if (listed.deleted)
    xml.element("Deleted", "true").element("Version", deletion_version(*listed.deleted));
  xml.open("Properties");
  xml.element("Last-Modified", wire::http_date(container.changed));
  xml.element("Etag", concurrency::ETag{container.changed}.quoted());
  if (listed.deleted) {
    xml.element("LeaseStatus", "unlocked").element("LeaseState", "expired");
  } else {
    service::write_lease(xml, container.lease, call.now);
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
  if (listed.deleted) {
    xml.element("DeletedTime", wire::http_date(listed.deleted->deleted));
    const int64_t left = listed.deleted->removal.seconds() - call.now.seconds();
    xml.element("RemainingRetentionDays", static_cast<uint64_t>(left / (24 * 3600)));
  }
  xml.close("Properties");
  if (with_metadata) service::write_metadata(xml, container.metadata);
  xml.close("Container");
}

// Walks live and, if asked for, deleted containers in the order of their names.
class Walk {
 public:
  Walk(const Call& call, const store::View& view, const service::Page& page, bool with_deleted)
      : now_(call.now), live_(scan(call, view, service::kContainersFamily, page)) {
    if (with_deleted) deleted_ = scan(call, view, service::kDeletedContainersFamily, page);
  }

  // Nothing at the end.
  store::Result<std::optional<Listed>> next() {
    while (deleted_ && deleted_->valid() &&
           (!live_->valid() || name_of(*deleted_) <= name_of(*live_))) {
      auto listed = take<DeletedContainer>(*deleted_);
      if (!listed) return listed.error();
      if (now_ < listed->second.removal) {
        return std::optional<Listed>({listed->first, listed->second.container, listed->second});
      }
    }
    if (!live_->valid()) {
      if (auto status = live_->status(); !status) return status.error();
      return std::optional<Listed>();
    }
    auto listed = take<Container>(*live_);
    if (!listed) return listed.error();
    return std::optional<Listed>({listed->first, listed->second, {}});
  }

 private:
  using Cursor = store::View::Cursor;

  static std::unique_ptr<Cursor> scan(const Call& call, const store::View& view,
                                      store::Family family, const service::Page& page) {
    const auto directory = service::directory_space(call.target.account);
    auto cursor = view.scan(store::Range::partition_prefix(directory, family, page.prefix));
    if (!page.start.empty()) cursor->seek(store::Key(directory, family, page.start).bytes());
    return cursor;
  }
  static std::string name_of(const Cursor& cursor) {
    return store::Key::from_bytes(std::string(cursor.key())).partition();
  }
  template <class T>
  static store::Result<std::pair<std::string, T>> take(Cursor& cursor) {
    auto record = cursor.record();
    if (!record) return record.error();
    auto value = store::decode<T>((*record)->value);
    if (!value) return store::Error::kCorrupt;
    std::pair<std::string, T> taken(name_of(cursor), std::move(*value));
    cursor.next();
    return taken;
  }

  Time now_;
  std::unique_ptr<Cursor> live_;
  std::unique_ptr<Cursor> deleted_;
};

}  // namespace

Outcome list_containers(Call& call) {
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, {"metadata", "deleted", "system"});
  if (!include) co_return include.error();

  wire::XmlWriter xml;
  xml.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
  service::write_page(xml, *page);
  xml.open("Containers");
  std::string next_marker;
  auto done = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    Walk walk(call, view, *page, include->contains("deleted"));
    for (uint64_t count = 0;; ++count) {
      auto listed = walk.next();
      if (!listed) return listed.error();
      if (!*listed) return {};
      if (count == page->most) {
        next_marker = service::write_marker((*listed)->name);
        return {};
      }
      write_container(xml, call, **listed, include->contains("metadata"));
    }
  });
  if (!done) co_return service::storage_error(done.error());
  xml.close("Containers").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
