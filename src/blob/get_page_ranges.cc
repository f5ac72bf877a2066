// Get Page Ranges: GET /{container}/{blob}?comp=pagelist, with prevsnapshot the difference to a
// snapshot
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/handlers.h"
#include "blob/pages.h"
#include "content/byte_runs.h"
#include "content/cleared.h"
#include "http/url.h"
#include "transfer/listing.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr uint64_t kMaxRanges = 10'000;

// The snapshot that prevsnapshot or, in its URL, x-ms-previous-snapshot-url names.
wire::Result<std::optional<std::string>> decode_previous(const Call& call) {
  constexpr std::string_view kUrl = "x-ms-previous-snapshot-url";
  if (const auto text = call.query.find("prevsnapshot"))
    return std::optional<std::string>(std::string(*text));
  const auto header = call.headers().find(kUrl);
  if (!header) return std::optional<std::string>();
  const auto url = http::parse_url(*header);
  const auto query = url ? wire::Query::parse(url->query) : std::nullopt;
  if (!query || query->get("snapshot").empty()) return wire::invalid_header(kUrl, *header);
  return std::optional<std::string>(std::string(query->get("snapshot")));
}

Task<wire::Result<std::optional<FoundBlob>>> find_previous(Call& call, const FoundBlob& now) {
  const auto decoded = decode_previous(call);
  if (!decoded) co_return decoded.error();
  const auto& text = *decoded;
  if (!text) co_return std::optional<FoundBlob>();
  // A token for one snapshot or version tells nothing of another.
  if (call.caller.is_sas() && call.caller.scope == auth::Scope::kSnapshot)
    co_return wire::Error(Code::kAuthorizationFailure);
  const auto instant = wire::parse_iso_date(*text);
  if (!instant) co_return wire::invalid_query("prevsnapshot", *text);
  if (!call.target.snapshot.empty() && *wire::parse_iso_date(call.target.snapshot) < *instant) {
    co_return wire::Error(Code::kPreviousSnapshotCannotBeNewer);
  }
  FoundBlob found{now.place, snapshot_row(*instant), {}, {}, {}};
  const auto key = head_key(found.place, found.row);
  auto loaded = co_await service::load_shared<Blob>(call, key);
  if (!loaded) co_return loaded.error();
  if (!loaded->value || loaded->value->deleted.set())
    co_return wire::Error(Code::kPreviousSnapshotNotFound);
  if (loaded->value->created != now.blob->created) co_return wire::Error(Code::kBlobOverwritten);
  found.record = std::move(loaded->record);
  found.blob = std::move(loaded->value);
  co_return std::optional<FoundBlob>(std::move(found));
}

Task<wire::Result<content::Pieces>> load_pieces(Call& call, const FoundBlob& found, Span span) {
  const content::Place place = found.place.content();
  const store::Guard head{head_key(found.place, found.row), found.record};
  const uint64_t length = found.blob->content.length;
  if (span.offset >= length) co_return content::Pieces();
  const uint64_t count = std::min(span.count, length - span.offset);
  auto pieces =
      co_await content::load(call.store(), place, found.blob->content, span.offset, count, head);
  if (!pieces) co_return service::storage_error(pieces.error());
  co_return std::move(*pieces);
}

std::string write_ranges(const content::ByteRuns& ranges, uint64_t most, bool paged) {
  wire::XmlWriter xml;
  xml.open("PageList");
  std::string next_marker;
  uint64_t count = 0;
  for (const auto& range : ranges) {
    if (count++ == most) {
      std::string start;
      append_uint(start, range.start);
      next_marker = transfer::write_marker(start);
      break;
    }
    const std::string_view tag = range.clear ? "ClearRange" : "PageRange";
    xml.open(tag).element("Start", range.start).element("End", range.end - 1).close(tag);
  }
  if (paged) xml.element("NextMarker", next_marker);
  xml.close("PageList");
  return xml.take();
}

Outcome answer(Call& call) {
  const auto range = headers::decode_read_range(call);
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  auto found = co_await read_blob(call, concurrency::kAcceptsAll);
  if (!found) co_return found.error();
  if (found->blob->type != BlobType::kPage) co_return wire::Error(Code::kInvalidBlobType);
  const uint64_t length = found->blob->content.length;
  Span span{0, length};
  if (range) {
    const auto clipped = clip(*range, length);
    if (!clipped) co_return wire::Error(Code::kInvalidRange);
    // Whole pages: a range within one covers it.
    span.offset = clipped->offset / kPage * kPage;
    span.count = (clipped->offset + clipped->count + kPage - 1) / kPage * kPage - span.offset;
  }
  if (!page->start.empty()) {
    const auto start = parse_uint(page->start);
    if (!start || *start < span.offset || *start >= span.offset + span.count) {
      co_return wire::invalid_query("marker", *page->marker_text);
    }
    span.count -= *start - span.offset;
    span.offset = *start;
  }
  auto previous = co_await find_previous(call, *found);
  if (!previous) co_return previous.error();
  auto after = co_await load_pieces(call, *found, span);
  if (!after) co_return after.error();
  content::ByteRuns ranges;
  if (*previous) {
    auto before = co_await load_pieces(call, **previous, span);
    if (!before) co_return before.error();
    const Time snapshot = parse_row((*previous)->row).snapshot;
    auto cleared =
        content::cleared_after(found->blob->cleared, static_cast<uint64_t>(snapshot.ticks));
    auto differ = co_await content::difference(call.store(), *before, *after, span.offset,
                                               span.count, std::move(cleared));
    if (!differ) co_return service::storage_error(differ.error());
    ranges = std::move(*differ);
  } else {
    ranges = content::written(*after);
  }
  http::Reply reply(200);
  encode_changed(reply, found->blob->changed);
  reply.header("x-ms-blob-content-length", length);
  reply.header("Content-Type", "application/xml");
  const bool paged = page->asked_results.has_value() || page->marker_text.has_value();
  reply.body = write_ranges(ranges, paged ? std::min(page->most, kMaxRanges) : UINT64_MAX, paged);
  co_return reply;
}

}  // namespace

Outcome get_page_ranges(Call& call) {
  co_return co_await service::answer_whole(call, [&] { return answer(call); });
}

}  // namespace kyanite::blob
