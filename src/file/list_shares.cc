// List Shares: GET /?comp=list
#include <optional>
#include <string>

#include "base/bytes.h"
#include "file/handlers.h"
#include "file/share.h"
#include "file/share_properties.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "transfer/listing.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::file {

using service::Call;

namespace {

using Listed = lifetime::Listed<Share>;

constexpr std::string_view kNilGuid = "00000000-0000-0000-0000-000000000000";

// The place of an item in the listing: name, zero byte, then deletions by age, snapshots by age,
// the share itself. A marker is such a place, so that a page can end between two snapshots.
std::string deletion_place(const Listed& listed) {
  return listed.name + '\0' + 'd' + instant_row(listed.deletion->deleted);
}
std::string snapshot_place(const Listed& listed, std::string_view row) {
  return (listed.name + '\0' + 's').append(row);
}
std::string share_place(const Listed& listed) { return listed.name + '\0' + 't'; }

class ShareList {
 public:
  struct Include {
    bool metadata, snapshots, deleted;
  };

  ShareList(const Call& call, const transfer::Page& page, Include include)
      : call_(call), page_(page), include_(include) {
    xml_.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
    transfer::write_page(xml_, page);
    xml_.open("Shares");
  }

  // Where the page begins.
  lifetime::Walk walk() const {
    const auto deleted =
        include_.deleted ? std::optional(lifetime::kDeletedSharesFamily) : std::nullopt;
    return {lifetime::kSharesFamily, deleted, page_.prefix,
            page_.start.substr(0, page_.start.find('\0'))};
  }

  // Whether the page goes on behind this.
  store::Result<bool> add(Listed& listed, const store::View& view) {
    if (listed.deletion) {
      if (takes(deletion_place(listed))) write_deletion(std::move(listed));
      return next_.empty();
    }
    if (include_.snapshots) {
      if (auto done = write_snapshots(view, listed); !done) return done.error();
    }
    if (next_.empty() && takes(share_place(listed))) write_share(listed);
    return next_.empty();
  }

  std::string finish() {
    const std::string marker = next_.empty() ? "" : transfer::write_marker(next_);
    xml_.close("Shares").element("NextMarker", marker).close("EnumerationResults");
    return xml_.take();
  }

 private:
  // Whether the item belongs to this page; the first that comes too late is the next page's first.
  bool takes(std::string place) {
    if (place < page_.start) return false;
    if (count_ == page_.most) {
      next_ = std::move(place);
      return false;
    }
    ++count_;
    return true;
  }

  store::Result<void> write_snapshots(const store::View& view, const Listed& listed) {
    auto cursor = view.scan(store::Range::rows(listed.value.space, kSnapshots, kSharePartition));
    for (; cursor->valid() && next_.empty(); cursor->next()) {
      auto record = cursor->record();
      if (!record) return record.error();
      const auto snapshot = store::decode<Snapshot>((*record)->value);
      if (!snapshot) return store::Error::kCorrupt;
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      if (takes(snapshot_place(listed, key.row()))) write_snapshot(listed, key.row(), *snapshot);
    }
    return cursor->status();
  }

  void write_snapshot(const Listed& listed, std::string_view row, const Snapshot& snapshot) {
    const Time instant{static_cast<int64_t>(read_be64(row.data()))};
    xml_.open("Share").element("Name", listed.name).element("Snapshot", wire::iso_date(instant));
    xml_.open("Properties");
    write_snapshot_properties(xml_, call_, snapshot);
    xml_.close("Properties");
    if (include_.metadata) headers::write_metadata(xml_, snapshot.properties.metadata);
    xml_.close("Share");
  }

  void write_deletion(Listed listed) {
    // A deletion breaks the lease, and tells so even of a share that had none.
    listed.value.lease.id = kNilGuid;
    listed.value.lease.break_ends = listed.deletion->deleted;
    xml_.open("Share").element("Name", listed.name).element("Deleted", "true");
    xml_.element("Version", lifetime::deletion_version(listed.deletion->deleted));
    xml_.open("Properties");
    write_share_properties(xml_, call_, listed.value);
    xml_.element("DeletedTime", wire::http_date(listed.deletion->deleted));
    xml_.element("RemainingRetentionDays",
                 lifetime::remaining_days(listed.deletion->removal, call_.now));
    xml_.close("Properties");
    if (include_.metadata) headers::write_metadata(xml_, listed.value.properties.metadata);
    xml_.close("Share");
  }

  void write_share(const Listed& listed) {
    xml_.open("Share").element("Name", listed.name).open("Properties");
    write_share_properties(xml_, call_, listed.value);
    xml_.close("Properties");
    if (include_.metadata) headers::write_metadata(xml_, listed.value.properties.metadata);
    xml_.close("Share");
  }

  const Call& call_;
  const transfer::Page& page_;
  const Include include_;
  wire::XmlWriter xml_;
  uint64_t count_ = 0;
  std::string next_;  // The place of the next page's first item; empty: there is none.
};

}  // namespace

Outcome list_shares(Call& call) {
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto include = transfer::decode_include(call, {"metadata", "snapshots", "deleted"});
  if (!include) co_return include.error();
  ShareList list(call, *page,
                 {include->contains("metadata"), include->contains("snapshots"),
                  include->contains("deleted")});
  const auto see = [&](Listed& listed, const store::View& view) { return list.add(listed, view); };
  auto walk = list.walk();
  auto done = co_await lifetime::walk_directory<Share>(call, std::move(walk), see);
  if (!done) co_return service::storage_error(done.error());
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = list.finish();
  co_return reply;
}

}  // namespace kyanite::file
