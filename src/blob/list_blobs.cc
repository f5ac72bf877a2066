// List Blobs: GET /{container}?restype=container&comp=list
//
// A page is one snapshot. With a delimiter, names that share the part up to it fold into one
// BlobPrefix and the scan jumps over them, so the cost follows what is returned.
#include <set>

#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "concurrency/etag.h"
#include "service/listing.h"
#include "wire/date.h"
#include "wire/query.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;

namespace {

const std::set<std::string_view> kIncludes = {
    "copy",       "deleted", "metadata",           "snapshots", "uncommittedblobs",
    "versions",   "tags",    "immutabilitypolicy", "legalhold", "deletedwithversions",
    "permissions"};

struct Request {
  service::Page page;
  std::string_view delimiter;
  bool metadata = false;
};

// Names that XML cannot hold are percent-encoded and marked.
void write_name(wire::XmlWriter& xml, const Call& call, std::string_view name) {
  if (wire::xml_can_hold(name) || call.version < wire::kEncodedNamesInLists) {
    xml.element("Name", name);
    return;
  }
  xml.open("Name").attribute("Encoded", "true").text(wire::percent_encode(name)).close("Name");
}

void write_properties(wire::XmlWriter& xml, const Call& call, const Blob& blob) {
  xml.open("Properties");
  xml.element("Creation-Time", wire::http_date(blob.created));
  xml.element("Last-Modified", wire::http_date(blob.changed));
  xml.element("Etag", concurrency::ETag{blob.changed}.unquoted());
  xml.element("Content-Length", blob.content.length);
  xml.element("Content-Type", blob.http.content_type);
  xml.element("Content-Encoding", blob.http.content_encoding);
  xml.element("Content-Language", blob.http.content_language);
  if (call.version >= wire::kCrc64Replies) xml.element("Content-CRC64", "");
  xml.element("Content-MD5", base64(blob.http.content_md5));
  xml.element("Cache-Control", blob.http.cache_control);
  xml.element("Content-Disposition", blob.http.content_disposition);
  xml.element("BlobType", name(blob.type));
  if (blob.type == BlobType::kBlock) {
    xml.element("AccessTier", name(blob.tier));
    if (blob.tier == Tier::kInferred) {
      xml.element("AccessTierInferred", "true");
    } else {
      xml.element("AccessTierChangeTime", wire::http_date(blob.tier_changed));
    }
  }
  service::write_lease(xml, blob.lease, call.now);
  xml.element("ServerEncrypted", "true");
  xml.close("Properties");
}

void write_blob(wire::XmlWriter& xml, const Call& call, const Request& request,
                std::string_view name, const Blob& blob) {
  xml.open("Blob");
  write_name(xml, call, name);
  write_properties(xml, call, blob);
  if (request.metadata) service::write_metadata(xml, blob.metadata);
  if (call.version >= wire::kBlobTags) xml.element("OrMetadata", "");
  xml.close("Blob");
}

void write_prefix(wire::XmlWriter& xml, const Call& call, std::string_view prefix) {
  xml.open("BlobPrefix");
  write_name(xml, call, prefix);
  xml.close("BlobPrefix");
}

// Writes the entries of one page; returns the marker of the next one, empty at the end.
store::Result<std::string> write_entries(wire::XmlWriter& xml, const Call& call,
                                         const Request& request, store::SpaceId space,
                                         const store::View& view) {
  const auto& page = request.page;
  auto cursor = view.scan(store::Range::partition_prefix(space, kHeads, page.prefix));
  if (!page.start.empty()) cursor->seek(store::partition_prefix_bytes(space, kHeads, page.start));
  for (uint64_t count = 0; cursor->valid(); ++count) {
    const std::string name = store::Key::from_bytes(std::string(cursor->key())).partition();
    if (count == page.most) return service::write_marker(name);
    const size_t cut = request.delimiter.empty() ? std::string::npos
                                                 : name.find(request.delimiter, page.prefix.size());
    if (cut != std::string::npos) {
      const std::string prefix = name.substr(0, cut + request.delimiter.size());
      write_prefix(xml, call, prefix);
      cursor->seek(store::after_prefix(store::partition_prefix_bytes(space, kHeads, prefix)));
      continue;
    }
    auto record = cursor->record();
    if (!record) return record.error();
    const auto blob = store::decode<Blob>((*record)->value);
    if (!blob) return store::Error::kCorrupt;
    write_blob(xml, call, request, name, *blob);
    cursor->next();
  }
  if (auto status = cursor->status(); !status) return status.error();
  return std::string();
}

}  // namespace

Outcome list_blobs(Call& call) {
  auto page = service::decode_page(call);
  if (!page) co_return page.error();
  auto include = service::decode_include(call, kIncludes);
  if (!include) co_return include.error();
  const Request request{std::move(*page), call.query.get("delimiter"),
                        include->contains("metadata")};
  auto container = co_await load_container(call);
  if (!container) co_return container.error();

  wire::XmlWriter xml;
  xml.open("EnumerationResults")
      .attribute("ServiceEndpoint", call.endpoint)
      .attribute("ContainerName", call.target.container);
  service::write_page(xml, request.page);
  xml.optional("Delimiter", request.delimiter).open("Blobs");
  std::string next_marker;
  auto listed = co_await call.store().read([&](const store::View& view) -> store::Result<void> {
    auto marker = write_entries(xml, call, request, container->space, view);
    if (!marker) return marker.error();
    next_marker = std::move(*marker);
    return {};
  });
  if (!listed) co_return service::storage_error(listed.error());
  xml.close("Blobs").element("NextMarker", next_marker).close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
