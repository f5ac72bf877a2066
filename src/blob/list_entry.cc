#include "blob/list_entry.h"

#include <charconv>

#include "base/bytes.h"
#include "blob/tags.h"
#include "concurrency/etag.h"
#include "lifetime/deleted.h"
#include "store/fields.h"
#include "wire/query.h"
#include "wire/readable.h"
#include "wire/version.h"

namespace kyanite::blob {

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
  shows.permissions = include.contains("permissions");
  return shows;
}

void open_list(wire::XmlWriter& xml, const Listing& listing) {
  xml.open("EnumerationResults")
      .attribute("ServiceEndpoint", listing.endpoint)
      .attribute("ContainerName", listing.container);
  transfer::write_page(xml, listing.page, listing.version >= wire::kEncodedNamesInLists);
  xml.optional("Delimiter", wire::readable(listing.delimiter)).open("Blobs");
}

void close_list(wire::XmlWriter& xml, std::string_view next_marker) {
  xml.close("Blobs").element("NextMarker", next_marker).close("EnumerationResults");
}

namespace {
// Fields of a Blob that every blob has its own of, where they are stored.
struct OwnFields {
  struct Length {
    uint64_t bytes = 0;
    template <class Io>
    void fields(Io& io) {
      io(2, bytes);
    }
  };
  BlobType type = BlobType::kBlock;
  std::string_view created;
  std::string_view changed;
  Length content;
  std::string_view http;
  std::string_view metadata;
  template <class Io>
  void fields(Io& io) {
    io(1, type);
    io(2, created);
    io(3, changed);
    io(4, content);
    io(5, http);
    io(6, metadata);
  }
};
constexpr uint32_t kMd5Field = 6;  // The last of HttpProperties.

template <class T>
bool decode_again(std::string_view stored, T& value) {
  return store::FieldReader<true>::read(stored, value);
}

// Zero where there is none.
bool read_time(std::string_view stored, Time& time) {
  time = {};
  return stored.data() == nullptr || decode_again(stored, time);
}
}  // namespace

bool HeadReader::change(ListedHead::Decoded& decoded, std::string_view stored) {
  if (decoded.number != 0 && stored == decoded.stored) return false;
  decoded.stored.assign(stored);
  decoded.number = ++last_number_;
  return true;
}

// The MD5 is each blob's own, the rest mostly not.
bool HeadReader::read_http(std::string_view stored, ListedHead& head) {
  store::FieldReader<true> reader(stored);
  const size_t alike = stored.size() - reader.rest(kMd5Field).size();
  reader(kMd5Field, head.content_md5);
  if (!reader.ok()) return false;
  return !change(head.http, stored.substr(0, alike)) ||
         decode_again(head.http.stored, head.blob.http);
}

bool HeadReader::read(std::string_view row, std::string_view stored, ListedHead& head) {
  auto reader = store::read_again(stored);
  if (!reader) return false;
  OwnFields own;
  own.fields(*reader);
  std::string_view others = reader->rest(Blob::kFirstOtherField);
  uint64_t node_id = 0;
  if (listing_.hierarchical) {
    store::FieldReader<true> ids = *reader;
    others.remove_suffix(ids.rest(Blob::kNodeIdField).size());
    ids(Blob::kNodeIdField, node_id);
    if (!ids.ok()) return false;
  }
  if (change(head.others, others)) {
    head.blob.other_fields(*reader);
    finish_rehydration(head.blob, listing_.now);
  }
  head.blob.node_id = node_id;
  if (!reader->ok() || !read_http(own.http, head)) return false;
  if (!row.empty() || !head.row.empty()) head.row.assign(row);
  head.blob.type = own.type;
  if (!read_time(own.created, head.created)) return false;
  // Most blobs are never changed.
  if (own.changed == own.created) {
    head.changed = head.created;
  } else if (!read_time(own.changed, head.changed)) {
    return false;
  }
  head.length = own.content.bytes;
  return !listing_.shows.metadata || decode_again(own.metadata, head.blob.metadata);
}

bool is_shown(const Listing& listing, const ListedHead& head) {
  const ListShows& shows = listing.shows;
  if (head.blob.expires.set() && head.blob.expires <= listing.now) return false;
  if (head.blob.deleted.set() && !shows.deleted) return false;
  if (head.row.empty()) return true;
  const auto instant = parse_row(head.row);
  if (instant.snapshot.set()) return shows.snapshots;
  if (instant.version.set()) return shows.versions;
  return true;
}

namespace {

constexpr size_t kMd5Bytes = 16;
constexpr std::string_view kMd5Begins = "<Content-MD5>";
constexpr std::string_view kMd5Ends = "</Content-MD5>";
constexpr std::string_view kNoMd5 = "<Content-MD5 />";

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

void write_tier(wire::XmlWriter& xml, wire::Version version, const Blob& blob) {
  if (blob.type != BlobType::kBlock && blob.tier == Tier::kInferred) return;
  xml.plain("AccessTier", name(blob.tier));
  if (blob.tier == Tier::kInferred) {
    xml.plain("AccessTierInferred", "true");
  } else {
    xml.plain("AccessTierChangeTime", wire::http_date(blob.tier_changed));
  }
  if (blob.rehydrate_to != Tier::kInferred) {
    xml.element("ArchiveStatus", "rehydrate-pending-to-" + ascii_lower(name(blob.rehydrate_to)));
    if (version >= wire::kRehydratePriority)
      xml.element("RehydratePriority", blob.rehydrate_priority);
  }
}

void write_deletion(wire::XmlWriter& xml, const Blob& blob, Time now) {
  if (!blob.deleted.set()) return;
  xml.plain("DeletedTime", wire::http_date(blob.deleted));
  xml.element("RemainingRetentionDays", lifetime::remaining_days(blob.removal, now));
}

// Directories are marked, which is not stored.
void write_metadata(wire::XmlWriter& xml, const Blob& blob) {
  if (!blob.is_directory()) return headers::write_metadata(xml, blob.metadata);
  headers::Metadata marked = blob.metadata;
  marked.emplace_back(kFolderMark, "true");
  headers::write_metadata(xml, marked);
}

// When what is listed vanishes: by its expiry, or a deleted path when its retention ends.
void write_expiry(wire::XmlWriter& xml, const Listing& listing, const Blob& blob) {
  const Time end = listing.hierarchical && blob.deleted.set() ? blob.removal : blob.expires;
  if (end.set()) xml.plain("Expiry-Time", wire::http_date(end));
}

// What files and directories have more than blobs.
void write_node(wire::XmlWriter& xml, const Listing& listing, const Blob& blob) {
  if (!blob.node) return;
  if (listing.shows.permissions) {
    const auto& access = blob.node->access;
    xml.element("Owner", access.owner).element("Group", access.group);
    xml.plain("Permissions", auth::posix::print_permissions(access));
    xml.element("Acl", auth::posix::print_acl(access));
  }
  if (listing.version >= wire::kResourceTypesInLists)
    xml.plain("ResourceType", resource_type(blob));
}

// What follows from a blob's type, its other_fields() and the request.
void write_others(wire::XmlWriter& xml, const Listing& listing, const ListedHead& head) {
  const Blob& blob = head.blob;
  const ListShows& shows = listing.shows;
  if (blob.type == BlobType::kPage) xml.element("x-ms-blob-sequence-number", blob.sequence_number);
  xml.plain("BlobType", name(blob.type));
  write_tier(xml, listing.version, blob);
  if (head.row.empty()) {
    if (!blob.deleted.set()) {
      headers::write_lease(xml, blob.lease, listing.now);
    } else if (listing.version < wire::kBlobTags) {
      xml.plain("LeaseStatus", "");
    }
  }
  if (shows.copy) write_copy(xml, blob.copy);
  xml.plain("ServerEncrypted", "true");
  if (!blob.key_sha256.empty()) xml.element("CustomerProvidedKeySha256", base64(blob.key_sha256));
  write_deletion(xml, blob, listing.now);
  if (blob.sealed) xml.plain("Sealed", "true");
  if (shows.tag_count && !blob.tags.empty()) xml.element("TagCount", blob.tags.size());
  if (shows.immutability && blob.immutability.until.set()) {
    xml.plain("ImmutabilityPolicyUntilDate", wire::http_date(blob.immutability.until));
    xml.plain("ImmutabilityPolicyMode", blob.immutability.locked ? "locked" : "unlocked");
  }
  if (shows.legal_hold && blob.legal_hold) xml.plain("LegalHold", "true");
}

}  // namespace

wire::DateText EntryWriter::date(Time time) {
  const int64_t second = time.seconds();
  auto& dated = dates_[static_cast<uint64_t>(second) % dates_.size()];
  if (dated.second != second) dated = {second, wire::http_date(time)};
  return dated.text;
}

// Names that XML cannot hold are percent-encoded and marked.
void EntryWriter::write_name(std::string_view name) {
  if (wire::xml_is_plain(name)) {
    xml_.plain("Name", name);
  } else if (listing_.version < wire::kEncodedNamesInLists) {
    xml_.element("Name", name);
  } else {
    transfer::write_encodable(xml_, "Name", name);
  }
}

const EntryWriter::Http& EntryWriter::http(const ListedHead& head) {
  if (http_ && http_->number == head.http.number) return *http_;
  const HttpProperties& http = head.blob.http;
  auto before = wire::XmlWriter::fragment();
  before.element("Content-Type", http.content_type);
  before.element("Content-Encoding", http.content_encoding);
  before.element("Content-Language", http.content_language);
  if (listing_.version >= wire::kCrc64Replies) before.plain("Content-CRC64", "");
  auto behind = wire::XmlWriter::fragment();
  behind.element("Cache-Control", http.cache_control);
  behind.element("Content-Disposition", http.content_disposition);
  return http_.emplace(Http{head.http.number, before.take(), behind.take()});
}

const EntryWriter::Others& EntryWriter::others(const ListedHead& head) {
  const bool is_base = head.row.empty();
  if (others_ && others_->number == head.others.number && others_->type == head.blob.type &&
      others_->is_base == is_base) {
    return *others_;
  }
  auto before_etag = wire::XmlWriter::fragment();
  before_etag.raw("</Last-Modified>");
  write_expiry(before_etag, listing_, head.blob);
  before_etag.raw("<Etag>");
  auto before_length = wire::XmlWriter::fragment();
  before_length.raw("</Etag>");
  write_node(before_length, listing_, head.blob);
  before_length.raw("<Content-Length>");
  auto written = wire::XmlWriter::fragment();
  write_others(written, listing_, head);
  return others_.emplace(Others{head.others.number, head.blob.type, is_base, before_etag.take(),
                                before_length.take(), written.take()});
}

// The bulk of a listing, so it is put together in one go, with what stands before and behind.
void EntryWriter::write_properties(std::string_view name, std::string_view behind_name,
                                   const ListedHead& head, std::string_view behind) {
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof digits, head.length).ptr;
  const std::string_view length(digits, static_cast<size_t>(end - digits));
  char encoded[base64_size(kMd5Bytes)];
  const bool has_md5 = !head.content_md5.empty();
  std::string_view md5;
  std::string unusual;  // Clients may set what is no digest.
  if (head.content_md5.size() == kMd5Bytes) {
    write_base64(head.content_md5, encoded);
    md5 = {encoded, sizeof encoded};
  } else if (has_md5) {
    unusual = base64(head.content_md5);
    md5 = unusual;
  }
  const Http& alike = http(head);
  const Others& rest = others(head);
  xml_.raw(name, behind_name, "<Properties><Creation-Time>", date(head.created),
           "</Creation-Time><Last-Modified>", date(head.changed), rest.before_etag,
           concurrency::ETag{head.changed}.unquoted(), rest.before_length, length,
           "</Content-Length>", alike.before, has_md5 ? kMd5Begins : kNoMd5, md5,
           has_md5 ? kMd5Ends : "", alike.behind, rest.written, "</Properties>", behind);
}

void EntryWriter::write(std::string_view name, const ListedHead& head) {
  const ListShows& shows = listing_.shows;
  const Blob& blob = head.blob;
  const auto instant = parse_row(head.row);
  const bool has_or_metadata = listing_.version >= wire::kBlobTags;
  const bool shows_more = shows.metadata || (shows.tags && !blob.tags.empty());
  const std::string_view end = shows_more        ? std::string_view()
                               : has_or_metadata ? "<OrMetadata /></Blob>"
                                                 : "</Blob>";
  if (head.row.empty() && !blob.deleted.set() && !blob.version.set() && !head.versions_only &&
      wire::xml_is_plain(name)) {
    xml_.raw("<Blob><Name>");
    write_properties(name, "</Name>", head, end);
  } else {
    xml_.open("Blob");
    write_name(name);
    if (blob.deleted.set()) xml_.plain("Deleted", "true");
    if (instant.snapshot.set()) xml_.plain("Snapshot", wire::iso_date(instant.snapshot));
    if (head.versions_only) {
      xml_.plain("HasVersionsOnly", "true");
    } else if (blob.version.set() && !instant.snapshot.set()) {
      xml_.plain("VersionId", wire::iso_date(blob.version));
      if (head.row.empty()) xml_.plain("IsCurrentVersion", "true");
    }
    write_properties("", "", head, end);
  }
  if (!shows_more) return;
  if (shows.metadata) write_metadata(xml_, blob);
  if (shows.tags && !blob.tags.empty()) write_tags(xml_, blob.tags);
  if (has_or_metadata) xml_.plain("OrMetadata", "");
  xml_.close("Blob");
}

void EntryWriter::write_uncommitted(std::string_view name) {
  xml_.open("Blob");
  write_name(name);
  xml_.open("Properties").plain("Content-Length", "0").plain("BlobType", "BlockBlob");
  xml_.plain("AccessTier", "Hot").plain("AccessTierInferred", "true");
  headers::write_lease(xml_, {}, listing_.now);
  // So the service was recorded.
  xml_.plain("ServerEncrypted", listing_.hierarchical ? "true" : "false").close("Properties");
  if (listing_.version >= wire::kBlobTags) xml_.plain("OrMetadata", "");
  xml_.close("Blob");
}

void EntryWriter::write_prefix(std::string_view prefix) {
  xml_.open("BlobPrefix");
  write_name(prefix);
  xml_.close("BlobPrefix");
}

void EntryWriter::write_directory(std::string_view name, const ListedHead& head) {
  if (listing_.version < wire::kResourceTypesInLists) return write_prefix(name);
  xml_.open("BlobPrefix");
  write_name(name);
  write_properties("", "", head, "");
  if (listing_.shows.metadata) write_metadata(xml_, head.blob);
  xml_.close("BlobPrefix");
}

void EntryWriter::write_deleted(std::string_view name, uint64_t deletion_id,
                                const ListedHead& head) {
  xml_.open("Blob");
  write_name(name);
  xml_.element("DeletionId", deletion_id).plain("Deleted", "true");
  write_properties("", "", head, "");
  if (listing_.shows.metadata) write_metadata(xml_, head.blob);
  if (listing_.version >= wire::kBlobTags) xml_.plain("OrMetadata", "");
  xml_.close("Blob");
}

}  // namespace kyanite::blob
