#include "blob/list_entry.h"

#include <algorithm>

#include "base/bytes.h"
#include "blob/tags.h"
#include "concurrency/etag.h"
#include "wire/date.h"
#include "wire/query.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;

ListShows list_shows(const std::set<std::string, std::less<>>& include) {
  ListShows shows;
  shows.copy = include.contains("copy");
  shows.deleted = include.contains("deleted");
  shows.metadata = include.contains("metadata");
  shows.snapshots = include.contains("snapshots");
  shows.uncommitted = include.contains("uncommittedblobs");
  shows.versions = include.contains("versions");
  shows.tags = include.contains("tags");
  shows.legal_hold = include.contains("legalhold");
  shows.immutability = include.contains("immutabilitypolicy");
  shows.deleted_with_versions = include.contains("deletedwithversions");
  return shows;
}

bool is_shown(const ListShows& shows, const Call& call, const Head& head) {
  if (head.blob.expires.set() && head.blob.expires <= call.now) return false;
  if (head.blob.deleted.set() && !shows.deleted) return false;
  const auto instant = parse_row(head.row);
  if (instant.snapshot.set()) return shows.snapshots;
  if (instant.version.set()) return shows.versions;
  return true;
}

namespace {

// Names that XML cannot hold are percent-encoded and marked.
void write_name(wire::XmlWriter& xml, const Call& call, std::string_view name) {
  if (wire::xml_can_hold(name) || call.version < wire::kEncodedNamesInLists) {
    xml.element("Name", name);
    return;
  }
  xml.open("Name").attribute("Encoded", "true").text(wire::percent_encode(name)).close("Name");
}

void write_tier(wire::XmlWriter& xml, const Blob& blob) {
  if (blob.type != BlobType::kBlock && blob.tier == Tier::kInferred) return;
  xml.element("AccessTier", name(blob.tier));
  if (blob.tier == Tier::kInferred) {
    xml.element("AccessTierInferred", "true");
  } else {
    xml.element("AccessTierChangeTime", wire::http_date(blob.tier_changed));
  }
  if (blob.rehydrate_to != Tier::kInferred) {
    xml.element("ArchiveStatus", "rehydrate-pending-to-" + ascii_lower(name(blob.rehydrate_to)));
    xml.element("RehydratePriority", blob.rehydrate_priority);
  }
}

void write_copy(wire::XmlWriter& xml, const Copy& copy) {
  if (copy.status == CopyStatus::kNone) return;
  xml.element("CopyId", copy.id)
      .element("CopySource", copy.source)
      .element("CopyStatus", name(copy.status));
  std::string progress;
  append_uint(progress, copy.copied);
  progress += '/';
  append_uint(progress, copy.total);
  xml.element("CopyProgress", progress);
  if (copy.completed.set()) xml.element("CopyCompletionTime", wire::http_date(copy.completed));
  xml.optional("CopyStatusDescription", copy.status_description);
  if (copy.incremental) xml.element("IncrementalCopy", "true");
}

void write_deletion(wire::XmlWriter& xml, const Call& call, const Blob& blob) {
  if (!blob.deleted.set()) return;
  xml.element("DeletedTime", wire::http_date(blob.deleted));
  const int64_t left = blob.removal.seconds() - call.now.seconds();
  xml.element("RemainingRetentionDays",
              static_cast<uint64_t>(std::max<int64_t>(0, left / (24 * 3600))));
}

void write_properties(wire::XmlWriter& xml, const Call& call, const ListShows& shows,
                      const Head& head) {
  const Blob& blob = head.blob;
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
  if (blob.type == BlobType::kPage) xml.element("x-ms-blob-sequence-number", blob.sequence_number);
  xml.element("BlobType", name(blob.type));
  write_tier(xml, blob);
  if (head.row.empty() && !blob.deleted.set()) service::write_lease(xml, blob.lease, call.now);
  if (shows.copy) write_copy(xml, blob.copy);
  xml.element("ServerEncrypted", "true");
  if (!blob.key_sha256.empty()) xml.element("CustomerProvidedKeySha256", base64(blob.key_sha256));
  write_deletion(xml, call, blob);
  if (blob.sealed) xml.element("Sealed", "true");
  if (!blob.tags.empty()) xml.element("TagCount", blob.tags.size());
  if (blob.expires.set()) xml.element("Expiry-Time", wire::http_date(blob.expires));
  if (shows.immutability && blob.immutability.until.set()) {
    xml.element("ImmutabilityPolicyUntilDate", wire::http_date(blob.immutability.until));
    xml.element("ImmutabilityPolicyMode", blob.immutability.locked ? "locked" : "unlocked");
  }
  if (shows.legal_hold && blob.legal_hold) xml.element("LegalHold", "true");
  xml.close("Properties");
}

}  // namespace

void write_entry(wire::XmlWriter& xml, const Call& call, const ListShows& shows,
                 std::string_view name, const Head& head) {
  const auto instant = parse_row(head.row);
  xml.open("Blob");
  write_name(xml, call, name);
  if (head.blob.deleted.set()) xml.element("Deleted", "true");
  if (instant.snapshot.set()) xml.element("Snapshot", wire::iso_date(instant.snapshot));
  if (head.blob.version.set() && !instant.snapshot.set()) {
    xml.element("VersionId", wire::iso_date(head.blob.version));
    if (head.row.empty()) xml.element("IsCurrentVersion", "true");
  }
  write_properties(xml, call, shows, head);
  if (shows.metadata) service::write_metadata(xml, head.blob.metadata);
  if (shows.tags && !head.blob.tags.empty()) write_tags(xml, head.blob.tags);
  if (call.version >= wire::kBlobTags) xml.element("OrMetadata", "");
  xml.close("Blob");
}

void write_uncommitted_entry(wire::XmlWriter& xml, const Call& call, std::string_view name) {
  xml.open("Blob");
  write_name(xml, call, name);
  xml.open("Properties").element("Content-Length", "0").element("BlobType", "BlockBlob");
  xml.element("AccessTier", "Hot").element("AccessTierInferred", "true");
  service::write_lease(xml, {}, call.now);
  xml.element("ServerEncrypted", "false").close("Properties");
  if (call.version >= wire::kBlobTags) xml.element("OrMetadata", "");
  xml.close("Blob");
}

void write_prefix_entry(wire::XmlWriter& xml, const Call& call, std::string_view prefix) {
  xml.open("BlobPrefix");
  write_name(xml, call, prefix);
  xml.close("BlobPrefix");
}

}  // namespace kyanite::blob
