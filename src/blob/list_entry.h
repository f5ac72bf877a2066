// One entry of List Blobs.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "blob/records.h"
#include "transfer/listing.h"
#include "wire/date.h"
#include "wire/version.h"
#include "wire/xml.h"

namespace kyanite::blob {

// What the include parameter asks for.
struct ListShows {
  bool copy = false;
  bool deleted = false;
  bool metadata = false;
  bool snapshots = false;
  bool uncommitted = false;
  bool versions = false;
  bool tags = false;
  bool tag_count = true;  // Not asked for, but not for everybody either.
  bool legal_hold = false;
  bool immutability = false;
  bool deleted_with_versions = false;
  bool permissions = false;
};
ListShows list_shows(const std::set<std::string, std::less<>>& include);

// What a page was asked for, apart from the request.
struct Listing {
  transfer::Page page;
  ListShows shows;
  std::string endpoint;
  std::string container;
  std::string delimiter;
  std::string start_from;
  wire::Version version;
  Time now;
  bool hierarchical = false;  // The container has directories.
};

// What stands before and behind the entries of a page.
void open_list(wire::XmlWriter& xml, const Listing& listing);
void close_list(wire::XmlWriter& xml, std::string_view next_marker);

// A head as a listing reads it. Of the blob it has what many blobs have alike, which is decoded
// only when its stored bytes are not those of the last head read into this one.
struct ListedHead {
  // Stored bytes that were decoded, and a number that no other bytes have.
  struct Decoded {
    std::string stored;
    uint64_t number = 0;
  };
  std::string row;
  Time created;
  Time changed;
  uint64_t length = 0;
  std::string content_md5;
  Blob blob;     // type, http but for the MD5, metadata where shown, node_id, and most of the rest
  Decoded http;  // blob.http
  Decoded others;  // the other fields
  // Stands for a deleted blob of which there are versions; this is the last of them.
  bool versions_only = false;
};

// Each head is read by one reader only.
class HeadReader {
 public:
  explicit HeadReader(const Listing& listing) : listing_(listing) {}
  // False when the stored bytes are no blob.
  bool read(std::string_view row, std::string_view stored, ListedHead& head);

 private:
  bool read_http(std::string_view stored, ListedHead& head);
  // Whether the bytes have to be decoded, as they are others than last time.
  bool change(ListedHead::Decoded& decoded, std::string_view stored);

  const Listing& listing_;
  uint64_t last_number_ = 0;
};
bool is_shown(const Listing& listing, const ListedHead& head);

// Writes heads that one reader read.
class EntryWriter {
 public:
  EntryWriter(wire::XmlWriter& xml, const Listing& listing) : xml_(xml), listing_(listing) {}

  void write(std::string_view name, const ListedHead& head);
  void write_uncommitted(std::string_view name);
  void write_prefix(std::string_view prefix);
  // A directory, folded like a prefix: its name has the delimiter at its end.
  void write_directory(std::string_view name, const ListedHead& head);
  // A path that was deleted and can be restored under this id.
  void write_deleted(std::string_view name, uint64_t deletion_id, const ListedHead& head);

 private:
  // What was written of the last blob, before and behind its MD5: most blobs have the same.
  struct Http {
    uint64_t number;
    std::string before;
    std::string behind;
  };
  struct Others {
    uint64_t number;
    BlobType type;
    bool is_base;
    std::string before_etag;
    std::string before_length;
    std::string written;
  };
  // Blobs listed together were often made within a few seconds.
  struct Dated {
    int64_t second = -1;
    wire::DateText text;
  };

  void write_name(std::string_view name);
  void write_properties(std::string_view name, std::string_view behind_name, const ListedHead& head,
                        std::string_view behind);
  const Http& http(const ListedHead& head);
  const Others& others(const ListedHead& head);
  wire::DateText date(Time time);

  wire::XmlWriter& xml_;
  const Listing& listing_;
  std::array<Dated, 64> dates_;
  std::optional<Http> http_;
  std::optional<Others> others_;
};

}  // namespace kyanite::blob
