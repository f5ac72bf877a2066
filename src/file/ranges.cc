#include "file/ranges.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "file/versions.h"
#include "tree/tree_commit.h"
#include "wire/date.h"

namespace kyanite::file {

using headers::Span;
using service::Call;
using wire::Code;

wire::Result<std::optional<uint64_t>> decode_file_size(const Call& call) {
  const auto text = call.headers().find(kFileSizeHeader);
  if (!text || text->empty()) return std::optional<uint64_t>();
  const auto size = parse_uint(*text);
  if (!size && parse_int(*text)) return wire::Error(Code::kOutOfRangeInput);  // negative
  if (!size) return wire::invalid_header(kFileSizeHeader, *text);
  if (*size > kMaxFileBytes) {
    return wire::Error(Code::kOutOfRangeInput)
        .saying("The file size exceeds the maximum permissible limit.");
  }
  return size;
}

wire::Result<Span> decode_write_range(const Call& call) {
  auto range = headers::decode_range(call);
  if (!range) return range.error();
  if (!*range) return wire::missing_header("x-ms-range");
  const auto& [first, last] = **range;
  if (!last || *last == UINT64_MAX) {
    return wire::invalid_header("x-ms-range", call.headers().get("x-ms-range"));
  }
  return Span{first, *last - first + 1};
}

namespace {

// Zeros that count as written: the parts of a cleared range that fill no sector.
void add_zeros(content::Pieces& pieces, uint64_t from, uint64_t to) {
  if (from >= to) return;
  content::Piece piece;
  piece.offset = from;
  piece.length = static_cast<uint32_t>(to - from);
  piece.inline_bytes.assign(piece.length, '\0');
  pieces.push_back(std::move(piece));
}

Task<store::Result<void>> clear(Call& call, store::Commit& commit, const content::Place& place,
                                Entry& file, Span range) {
  const uint64_t end = range.offset + range.count;
  const uint64_t inner = std::min((range.offset + kSector - 1) / kSector * kSector, end);
  const uint64_t inner_end = std::max(end / kSector * kSector, inner);
  content::note_cleared(file.cleared, inner, inner_end, tree::kThisGeneration);
  content::Pieces edges;
  add_zeros(edges, range.offset, inner);
  add_zeros(edges, inner_end, end);
  // The leaves with the edges by themselves, so that the many between are found by a scan.
  constexpr uint64_t kGrid = content::kGridBytes;
  const uint64_t first_end = std::min((range.offset / kGrid + 1) * kGrid, end);
  const uint64_t last_start = std::max(end / kGrid * kGrid, first_end);
  const std::pair<uint64_t, uint64_t> parts[] = {
      {range.offset, first_end}, {first_end, last_start}, {last_start, end}};
  std::vector<content::Edit> edits;
  for (const auto& [from, to] : parts) {
    if (from == to) continue;
    content::Edit& edit = edits.emplace_back(content::Edit{from, to, {}});
    for (const auto& edge : edges) {
      if (edge.offset < to && edge.end() > from) edit.pieces.push_back(edge.part(from, to));
    }
  }
  co_return co_await content::edit(call.store(), commit, place, file.content, edits, call.deadline);
}

}  // namespace

Outcome write_range(Call& call, Span range, const transfer::Uploaded* uploaded) {
  constexpr std::string_view kWritten = "x-ms-file-last-write-time";
  const auto mode = call.headers().get(kWritten);
  const bool preserve = equals_ignoring_case(mode, "preserve");
  if (!mode.empty() && !preserve && !equals_ignoring_case(mode, "now"))
    co_return wire::invalid_header(kWritten, mode);
  content::Pieces pieces;
  if (uploaded != nullptr) {
    pieces = uploaded->pieces;
    for (auto& piece : pieces) piece.offset += range.offset;
  }
  const Edit edit = [&](Entry& file, store::Commit& commit,
                        const Located& before) -> Task<wire::Result<void>> {
    if (range.offset >= file.content.length || range.count > file.content.length - range.offset)
      co_return wire::Error(Code::kInvalidRange);
    const auto place = before.tree.content_place();
    store::Result<void> written;
    if (uploaded != nullptr) {
      written = co_await content::overwrite(call.store(), commit, place, file.content, range.offset,
                                            range.count, pieces, call.deadline);
    } else {
      written = co_await clear(call, commit, place, file, range);
    }
    if (!written) co_return service::storage_error(written.error());
    touch(file, call.now);
    file.smb.changed = call.now;
    if (!preserve) file.smb.written = call.now;
    co_return wire::Result<void>();
  };
  const Rules rules{Kind::kFile, concurrency::FileOperation::kPutRange,
                    concurrency::LeaseUse::kExclusive};
  auto changed = co_await change_entry(call, rules, edit);
  if (!changed) co_return changed.error();
  const Entry& file = *changed->entry;
  http::Reply reply(201);
  headers::encode_changed(reply, file.changed);
  if (uploaded != nullptr) {
    transfer::encode_hash(reply, *uploaded);
    transfer::encode_structured(reply, *uploaded);
    reply.header("x-ms-request-server-encrypted", "true");
  }
  if (call.version >= kLastWriteModes) reply.header(kWritten, wire::iso_date(file.smb.written));
  co_return reply;
}

}  // namespace kyanite::file
