#include "blob/list_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/fields.h"

namespace kyanite::blob {
namespace {

const Time kNow = Time::from_unix_seconds(1'700'000'000);

Listing listing_of(bool everything) {
  Listing listing;
  listing.now = kNow;
  listing.version = *wire::Version::parse("2023-11-03");
  if (everything) {
    listing.shows = {.copy = true,
                     .deleted = true,
                     .metadata = true,
                     .snapshots = true,
                     .uncommitted = true,
                     .versions = true,
                     .tags = true,
                     .legal_hold = true,
                     .immutability = true,
                     .deleted_with_versions = true};
  }
  return listing;
}

struct Row {
  std::string name;
  std::string row;
  Blob blob;
};

// Blobs that have some things in common with the one before, others not.
std::vector<Row> varied_rows() {
  std::vector<Row> rows;
  for (int i = 0; i < 400; ++i) {
    const auto is = [&](int every, int at = 0) { return i / 3 % every == at; };
    Row row{"name-" + std::to_string(i), {}, {}};
    Blob& blob = row.blob;
    blob.type = is(5) ? BlobType::kPage : is(7) ? BlobType::kAppend : BlobType::kBlock;
    blob.created = Time{kNow.ticks - int64_t{12'345'678} * i};
    // A minute and four seconds apart both dates have the same place among those that are kept.
    blob.changed = after_seconds(blob.created, is(2) ? 64 : i);
    blob.content = {static_cast<uint64_t>(i), static_cast<uint64_t>(i) * i * i * i * 1000, 1,
                    is(4)};
    if (!is(6)) blob.http.content_type = is(2) ? "text/plain" : "application/octet-stream";
    if (is(4)) blob.http.content_disposition = "a & b";
    if (is(8)) blob.http.cache_control = std::string(5000, 'c');  // More than is put at once.
    if (i % 4 != 0) blob.http.content_md5 = std::string(16, static_cast<char>(i));
    if (is(3)) blob.metadata = {{"Key", "value <" + std::to_string(i) + ">"}};
    if (is(9)) blob.lease.id = "lease";
    if (is(10)) blob.tags = {{"a", "b"}, {"c", std::to_string(i)}};
    if (is(11)) blob.tier = Tier::kCool, blob.tier_changed = blob.changed;
    if (is(12)) blob.version = blob.changed;
    if (is(13)) blob.deleted = kNow, blob.removal = after_seconds(kNow, 100'000);
    if (is(3, 1)) row.row = snapshot_row(blob.created);
    if (is(17)) row.name = "a&b \x01 <c>";
    rows.push_back(row);
  }
  return rows;
}

std::string written(EntryWriter& entries, wire::XmlWriter& xml, const Row& row,
                    const ListedHead& head) {
  entries.write(row.name, head);
  return xml.take();
}

// What is kept from one entry to the next must not show.
TEST(EntryWriter, WritesEachBlobAsIfItWereTheFirst) {
  for (const bool everything : {false, true}) {
    const Listing listing = listing_of(everything);
    auto xml = wire::XmlWriter::fragment();
    EntryWriter entries(xml, listing);
    HeadReader reader(listing);
    ListedHead used;
    for (const auto& row : varied_rows()) {
      const std::string stored = store::encode(row.blob);
      ASSERT_TRUE(reader.read(row.row, stored, used));
      ListedHead fresh;
      ASSERT_TRUE(HeadReader(listing).read(row.row, stored, fresh));
      auto alone = wire::XmlWriter::fragment();
      EntryWriter first(alone, listing);
      ASSERT_EQ(written(entries, xml, row, used), written(first, alone, row, fresh)) << row.name;
      ASSERT_EQ(is_shown(listing, used), is_shown(listing, fresh)) << row.name;
    }
  }
}

TEST(EntryWriter, WritesWhatIsStored) {
  Blob blob;
  blob.created = kNow;
  blob.changed = after_seconds(kNow, 64);
  blob.content.length = 18'446'744'073'709'551'615U;
  blob.http.content_type = "a&b";
  blob.http.cache_control = "no-store";
  const std::string md5 = "0123456789abcdef";
  const std::string before =
      "<Blob><Name>x</Name><Properties>"
      "<Creation-Time>Tue, 14 Nov 2023 22:13:20 GMT</Creation-Time>"
      "<Last-Modified>Tue, 14 Nov 2023 22:14:24 GMT</Last-Modified>"
      "<Etag>0x8DBE55F0F09A000</Etag><Content-Length>18446744073709551615</Content-Length>"
      "<Content-Type>a&amp;b</Content-Type><Content-Encoding /><Content-Language />"
      "<Content-CRC64 />";
  const std::string behind =
      "<Cache-Control>no-store</Cache-Control><Content-Disposition />"
      "<BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>"
      "<AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked</LeaseStatus>"
      "<LeaseState>available</LeaseState><ServerEncrypted>true</ServerEncrypted></Properties>"
      "<OrMetadata /></Blob>";
  const std::pair<std::string, std::string> cases[] = {
      {"", "<Content-MD5 />"}, {md5, "<Content-MD5>MDEyMzQ1Njc4OWFiY2RlZg==</Content-MD5>"}};
  const Listing listing = listing_of(false);
  for (const auto& [stored, text] : cases) {
    blob.http.content_md5 = stored;
    ListedHead head;
    ASSERT_TRUE(HeadReader(listing).read("", store::encode(blob), head));
    auto xml = wire::XmlWriter::fragment();
    EntryWriter(xml, listing).write("x", head);
    EXPECT_EQ(xml.take(), before + text + behind);
  }
}

TEST(EntryWriter, OldVersionsShowThatADeletedBlobHasNoLease) {
  Blob blob;
  blob.changed = blob.created = blob.deleted = blob.removal = kNow;
  for (const auto& [version, shown] : {std::pair("2018-11-09", true), {"2023-11-03", false}}) {
    Listing listing = listing_of(true);
    listing.version = *wire::Version::parse(version);
    ListedHead head;
    ASSERT_TRUE(HeadReader(listing).read("", store::encode(blob), head));
    auto xml = wire::XmlWriter::fragment();
    EntryWriter(xml, listing).write("x", head);
    const std::string text = xml.take();
    EXPECT_EQ(text.find("<LeaseStatus />") != std::string::npos, shown) << version;
    EXPECT_EQ(text.find("<LeaseState"), std::string::npos) << version;
  }
}

// Every beginning of a record that is not one is refused or reads as less, but never breaks.
TEST(HeadReader, RefusesWhatIsNoBlob) {
  const Listing listing = listing_of(true);
  const std::string stored = store::encode(varied_rows()[30].blob);
  ListedHead head;
  EXPECT_FALSE(HeadReader(listing).read("", "", head));
  EXPECT_FALSE(HeadReader(listing).read("", "\x7f", head));
  for (size_t length = 1; length < stored.size(); ++length) {
    const std::string_view part = std::string_view(stored).substr(0, length);
    ListedHead fresh;
    EXPECT_EQ(HeadReader(listing).read("", part, fresh), store::decode<Blob>(part).has_value())
        << length;
  }
}

}  // namespace
}  // namespace kyanite::blob
