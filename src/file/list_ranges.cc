// List Ranges: GET /{share}/{path}?comp=rangelist, with prevsharesnapshot the difference to a
// snapshot
#include <algorithm>

#include "content/byte_runs.h"
#include "file/entry.h"
#include "file/handlers.h"
#include "file/ranges.h"
#include "file/refusals.h"
#include "headers/range.h"
#include "wire/date.h"
#include "wire/xml.h"

namespace kyanite::file {

using headers::Span;
using service::Call;
using wire::Code;

namespace {

Task<wire::Result<content::Pieces>> load_pieces(Call& call, const Tree& tree,
                                                const tree::SeenEntry& found, Span span) {
  const auto place = tree.content_place();
  const auto& content = found.entry->content;
  if (span.offset >= content.length) co_return content::Pieces();
  const uint64_t count = std::min(span.count, content.length - span.offset);
  const auto head = found.guard();
  auto pieces = co_await content::load(call.store(), place, content, span.offset, count, head);
  if (!pieces) co_return service::storage_error(pieces.error());
  co_return std::move(*pieces);
}

// The file as the snapshot that prevsharesnapshot names shows it; no pieces where it was not there
// yet.
struct Previous {
  content::Pieces pieces;
  Generation generation = 0;
};
Task<wire::Result<Previous>> load_previous(Call& call, const Located& located,
                                           std::string_view text, Span span) {
  const auto instant = wire::parse_iso_date(text);
  if (!instant) co_return wire::invalid_query("prevsharesnapshot", text);
  auto snapshot =
      co_await service::load<Snapshot>(call, snapshot_key(located.tree.space, *instant));
  if (!snapshot) co_return snapshot.error();
  if (!snapshot->value) co_return snapshot_not_found(call);
  Previous previous{{}, snapshot->value->generation};
  Tree before = located.tree;
  before.shown = previous.generation;
  auto path = decode_path(call);
  if (!path) co_return path.error();
  auto way = co_await tree::follow(call, before, *path);
  if (!way && way.error() == tree::Error(tree::Reason::kNoParent)) co_return std::move(previous);
  if (!way) co_return refusal(way.error());
  auto found = co_await tree::find_entry(call, before, *way);
  if (!found) co_return refusal(found.error());
  if (!*found) co_return std::move(previous);
  if ((*found)->entry->id != located.found.entry->id)
    co_return wire::Error(Code::kFileGenerationMismatch);
  auto pieces = co_await load_pieces(call, before, **found, span);
  if (!pieces) co_return pieces.error();
  previous.pieces = std::move(*pieces);
  co_return std::move(previous);
}

// The run in whole sectors, as far as the span goes.
content::ByteRun in_sectors(const content::ByteRun& run, Span span) {
  const uint64_t start = std::max(run.start / kSector * kSector, span.offset);
  const uint64_t end =
      std::min((run.end + kSector - 1) / kSector * kSector, span.offset + span.count);
  return {start, end, run.clear};
}

// Files are told by sectors: one that was written to anywhere is written, one that was cleared and
// written to as well.
content::ByteRuns by_sectors(const content::ByteRuns& runs, Span span) {
  content::ByteRuns told;
  for (const auto& each : runs) {
    content::ByteRun run = in_sectors(each, span);
    if (!told.empty() && told.back().end > run.start) {
      auto& last = told.back();
      if (!run.clear && last.clear) last.end = run.start;
      if (!run.clear && last.start == last.end) told.pop_back();
      if (run.clear) run.start = last.end;
    }
    if (run.start >= run.end) continue;
    if (!told.empty() && told.back().clear == run.clear && told.back().end >= run.start) {
      told.back().end = std::max(told.back().end, run.end);
    } else {
      told.push_back(run);
    }
  }
  return told;
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

Outcome answer(Call& call) {
  const auto range = headers::decode_read_range(call);
  auto located = co_await read_file(call, concurrency::FileOperation::kListRanges);
  if (!located) co_return located.error();
  const uint64_t length = located->found.entry->content.length;
  Span span{0, length};
  if (range) {
    const auto clipped = headers::clip(*range, length);
    if (!clipped) co_return wire::Error(Code::kInvalidRange);
    span = *clipped;
  }
  auto pieces = co_await load_pieces(call, located->tree, located->found, span);
  if (!pieces) co_return pieces.error();
  content::ByteRuns runs;
  if (const auto previous = call.query.find("prevsharesnapshot")) {
    auto before = co_await load_previous(call, *located, *previous, span);
    if (!before) co_return before.error();
    auto differ = co_await content::difference(
        call.store(), before->pieces, *pieces, span.offset, span.count,
        content::cleared_after(located->found.entry->cleared, before->generation));
    if (!differ) co_return service::storage_error(differ.error());
    runs = std::move(*differ);
  } else {
    runs = content::written(*pieces);
  }
  http::Reply reply(200);
  headers::encode_changed(reply, located->found.entry->changed);
  reply.header("x-ms-content-length", length).header("Content-Type", "application/xml");
  reply.body = write_ranges(by_sectors(runs, span));
  co_return reply;
}

}  // namespace

Outcome list_ranges(Call& call) {
  co_return co_await service::answer_whole(call, [&] { return answer(call); });
}

}  // namespace kyanite::file
