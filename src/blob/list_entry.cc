#include "blob/list_entry.h"

#include "base/bytes.h"
#include "blob/tags.h"
#include "concurrency/etag.h"
#include "service/deleted.h"
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

bool is_shown(const ListShows& shows, const Call& call, const ListedHead& head) {
  if (head.blob.expires.set() && head.blob.expires <= call.now) return false;
  if (head.blob.deleted.set() && !shows.deleted) return false;
  const auto instant = parse_row(head.row);
  if (instant.snapshot.set()) return shows.snapshots;
  if (instant.version.set()) return shows.versions;
  return true;
}

namespace {

constexpr size_t kMd5Bytes = 16;

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

void write_tier(wire::XmlWriter& xml, const Blob& blob) {
  if (blob.type != BlobType::kBlock && blob.tier == Tier::kInferred) return;
  xml.plain("AccessTier", name(blob.tier));
  if (blob.tier == Tier::kInferred) {
    xml.plain("AccessTierInferred", "true");
  } else {
    xml.plain("AccessTierChangeTime", wire::http_date(blob.tier_changed));
  }
  if (blob.rehydrate_to != Tier::kInferred) {
    xml.element("ArchiveStatus", "rehydrate-pending-to-" + ascii_lower(name(blob.rehydrate_to)));
    xml.element("RehydratePriority", blob.rehydrate_priority);
  }
}

void write_deletion(wire::XmlWriter& xml, const Blob& blob, Time now) {
  if (!blob.deleted.set()) return;
  xml.plain("DeletedTime", wire::http_date(blob.deleted));
  xml.element("RemainingRetentionDays", service::remaining_days(blob.removal, now));
}

// What follows from a blob's type, its other_fields() and the request.
void write_others(wire::XmlWriter& xml, const Call& call, const ListShows& shows,
                  const ListedHead& head) {
  const Blob& blob = head.blob;
  if (blob.type == BlobType::kPage) xml.element("x-ms-blob-sequence-number", blob.sequence_number);
  xml.plain("BlobType", name(blob.type));
  write_tier(xml, blob);
  if (head.row.empty() && !blob.deleted.set()) service::write_lease(xml, blob.lease, call.now);
  if (shows.copy) write_copy(xml, blob.copy);
  xml.plain("ServerEncrypted", "true");
  if (!blob.key_sha256.empty()) xml.element("CustomerProvidedKeySha256", base64(blob.key_sha256));
  write_deletion(xml, blob, call.now);
  if (blob.sealed) xml.plain("Sealed", "true");
  if (!blob.tags.empty()) xml.element("TagCount", blob.tags.size());
  if (blob.expires.set()) xml.plain("Expiry-Time", wire::http_date(blob.expires));
  if (shows.immutability && blob.immutability.until.set()) {
    xml.plain("ImmutabilityPolicyUntilDate", wire::http_date(blob.immutability.until));
    xml.plain("ImmutabilityPolicyMode", blob.immutability.locked ? "locked" : "unlocked");
  }
  if (shows.legal_hold && blob.legal_hold) xml.plain("LegalHold", "true");
}

}  // namespace

const wire::DateText& EntryWriter::date(Time time) {
  const int64_t second = time.seconds();
  auto& dated = dates_[static_cast<uint64_t>(second) % dates_.size()];
  if (dated.second != second) dated = {second, wire::http_date(time)};
  return dated.text;
}

// Names that XML cannot hold are percent-encoded and marked.
void EntryWriter::write_name(std::string_view name) {
  if (wire::xml_can_hold(name) || call_.version < wire::kEncodedNamesInLists) {
    xml_.element("Name", name);
    return;
  }
  xml_.open("Name").attribute("Encoded", "true").text(wire::percent_encode(name)).close("Name");
}

void EntryWriter::write_own_properties(const Blob& blob) {
  const HttpProperties& http = blob.http;
  xml_.plain("Creation-Time", date(blob.created));
  xml_.plain("Last-Modified", date(blob.changed));
  xml_.plain("Etag", concurrency::ETag{blob.changed}.unquoted());
  xml_.element("Content-Length", blob.content.length);
  xml_.element("Content-Type", http.content_type);
  xml_.element("Content-Encoding", http.content_encoding);
  xml_.element("Content-Language", http.content_language);
  if (call_.version >= wire::kCrc64Replies) xml_.plain("Content-CRC64", "");
  char md5[base64_size(kMd5Bytes)];
  const bool has_md5 = http.content_md5.size() == kMd5Bytes;
  if (has_md5) write_base64(http.content_md5, md5);
  xml_.plain("Content-MD5", {md5, has_md5 ? sizeof md5 : 0});
  xml_.element("Cache-Control", http.cache_control);
  xml_.element("Content-Disposition", http.content_disposition);
}

void EntryWriter::write_other_properties(const ListedHead& head) {
  if (!head.row.empty()) {
    write_others(xml_, call_, shows_, head);
    return;
  }
  if (!others_ || others_->type != head.blob.type || others_->stored != head.others) {
    auto fragment = wire::XmlWriter::fragment();
    write_others(fragment, call_, shows_, head);
    others_ = {head.others, head.blob.type, fragment.take()};
  }
  xml_.raw(others_->written);
}

void EntryWriter::write(std::string_view name, const ListedHead& head) {
  const auto instant = parse_row(head.row);
  xml_.open("Blob");
  write_name(name);
  if (head.blob.deleted.set()) xml_.plain("Deleted", "true");
  if (instant.snapshot.set()) xml_.plain("Snapshot", wire::iso_date(instant.snapshot));
  if (head.blob.version.set() && !instant.snapshot.set()) {
    xml_.plain("VersionId", wire::iso_date(head.blob.version));
    if (head.row.empty()) xml_.plain("IsCurrentVersion", "true");
  }
  xml_.open("Properties");
  write_own_properties(head.blob);
  write_other_properties(head);
  xml_.close("Properties");
  if (shows_.metadata) service::write_metadata(xml_, head.blob.metadata);
  if (shows_.tags && !head.blob.tags.empty()) write_tags(xml_, head.blob.tags);
  if (call_.version >= wire::kBlobTags) xml_.plain("OrMetadata", "");
  xml_.close("Blob");
}

void EntryWriter::write_uncommitted(std::string_view name) {
  xml_.open("Blob");
  write_name(name);
  xml_.open("Properties").plain("Content-Length", "0").plain("BlobType", "BlockBlob");
  xml_.plain("AccessTier", "Hot").plain("AccessTierInferred", "true");
  service::write_lease(xml_, {}, call_.now);
  xml_.plain("ServerEncrypted", "false").close("Properties");
  if (call_.version >= wire::kBlobTags) xml_.plain("OrMetadata", "");
  xml_.close("Blob");
}

void EntryWriter::write_prefix(std::string_view prefix) {
  xml_.open("BlobPrefix");
  write_name(prefix);
  xml_.close("BlobPrefix");
}

}  // namespace kyanite::blob
