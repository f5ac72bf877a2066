// List Ranges: GET /{share}/{path}?comp=rangelist, with prevsharesnapshot the difference to a
// snapshot
#include "content/byte_runs.h"
#include "file/entry.h"
#include "file/handlers.h"
#include "service/range.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::file {

using service::Call;
using service::Span;
using wire::Code;

namespace {

Task<wire::Result<content::Pieces>> load_pieces(Call& call, const Tree& tree, const Found& found,
                                                Span span) {
  const auto place = content_place(tree);
  const auto& content = found.entry->content;
  if (span.offset >= content.length) co_return content::Pieces();
  const uint64_t count = std::min(span.count, content.length - span.offset);
  const auto head = found.guard();
  auto pieces = co_await content::load(call.store(), place, content, span.offset, count, head);
  if (!pieces) co_return service::storage_error(pieces.error());
  co_return std::move(*pieces);
}

// The pieces of the file as the snapshot that prevsharesnapshot names shows it; none where it was
// not there yet.
Task<wire::Result<content::Pieces>> load_previous(Call& call, const Located& located,
                                                  std::string_view text, Span span) {
  const auto instant = wire::parse_iso_date(text);
  if (!instant) co_return wire::invalid_query("prevsharesnapshot", text);
  auto snapshot =
      co_await service::load<Snapshot>(call, snapshot_key(located.tree.space(), *instant));
  if (!snapshot) co_return snapshot.error();
  if (!snapshot->value) co_return wire::Error(Code::kPreviousSnapshotNotFound);
  const Tree before{located.tree.share, snapshot->value->generation};
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto way = co_await follow(call, before, *path, Code::kResourceNotFound);
  if (!way && way.error().code == Code::kResourceNotFound) co_return content::Pieces();
  if (!way) co_return way.error();
  auto found = co_await find_entry(call, before, *way);
  if (!found) co_return found.error();
  if (!*found) co_return content::Pieces();
  if ((*found)->entry->id != located.found.entry->id)
    co_return wire::Error(Code::kFileGenerationMismatch);
  co_return co_await load_pieces(call, before, **found, span);
}

std::string write_ranges(const content::ByteRuns& runs) {
  wire::XmlWriter xml;
  if (runs.empty()) return xml.element("Ranges", "").take();
  xml.open("Ranges");
  for (const auto& run : runs) {
    const std::string_view tag = run.clear ? "ClearRange" : "Range";
    xml.open(tag).element("Start", run.start).element("End", run.end - 1).close(tag);
  }
  return xml.close("Ranges").take();
}

}  // namespace

Outcome list_ranges(Call& call) {
  auto range = service::decode_range(call);
  if (!range) co_return range.error();
  auto located = co_await read_file(call, concurrency::FileOperation::kListRanges);
  if (!located) co_return located.error();
  const uint64_t length = located->found.entry->content.length;
  Span span{0, length};
  if (*range) {
    const auto clipped = service::clip(**range, length);
    if (!clipped) co_return wire::Error(Code::kInvalidRange);
    span = *clipped;
  }
  auto pieces = co_await load_pieces(call, located->tree, located->found, span);
  if (!pieces) co_return pieces.error();
  content::ByteRuns runs;
  if (const auto previous = call.query.find("prevsharesnapshot")) {
    auto before = co_await load_previous(call, *located, *previous, span);
    if (!before) co_return before.error();
    auto differ =
        co_await content::difference(call.store(), *before, *pieces, span.offset, span.count);
    if (!differ) co_return service::storage_error(differ.error());
    runs = std::move(*differ);
  } else {
    runs = content::written(*pieces);
  }
  http::Reply reply(200);
  service::encode_changed(reply, located->found.entry->changed);
  reply.header("x-ms-content-length", length).header("Content-Type", "application/xml");
  reply.body = write_ranges(runs);
  co_return reply;
}

}  // namespace kyanite::file
