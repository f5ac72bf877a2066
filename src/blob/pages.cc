#include "blob/pages.h"

#include <algorithm>

#include "base/bytes.h"
#include "content/cleared.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

wire::Result<uint64_t> decode_page_blob_size(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-blob-content-length";
  const auto text = call.headers().find(kHeader);
  if (!text) return wire::missing_header(kHeader);
  const auto size = parse_uint(*text);
  if (!size || *size % kPage != 0 || *size > kMaxPageBlobBytes)
    return wire::invalid_header(kHeader, *text);
  return *size;
}

wire::Result<std::optional<uint64_t>> decode_sequence_number(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-blob-sequence-number";
  const auto text = call.headers().find(kHeader);
  if (!text || text->empty()) return std::optional<uint64_t>();
  const auto number = parse_uint(*text);
  if (!number || *number > concurrency::kMaxSequenceNumber)
    return wire::invalid_header(kHeader, *text);
  return number;
}

wire::Result<concurrency::SequenceConditions> decode_sequence_conditions(const Call& call) {
  concurrency::SequenceConditions conditions;
  const std::pair<std::string_view, std::optional<uint64_t>*> headers[] = {
      {"x-ms-if-sequence-number-le", &conditions.at_most},
      {"x-ms-if-sequence-number-lt", &conditions.less_than},
      {"x-ms-if-sequence-number-eq", &conditions.equal}};
  for (const auto& [header, value] : headers) {
    const auto text = call.headers().find(header);
    if (!text || text->empty()) continue;
    *value = parse_uint(*text);
    if (*value) continue;
    // Only pages that are sent themselves are told so briefly that no number is negative.
    if (parse_int(*text) && !call.headers().has("x-ms-copy-source"))
      return wire::Error(Code::kInvalidInput);
    return wire::invalid_header(header, *text);
  }
  return conditions;
}

wire::Result<Span> decode_page_range(const Call& call) {
  auto range = headers::decode_range(call);
  if (!range) return range.error();
  if (!*range) return wire::missing_header("Range");
  const uint64_t first = (*range)->first;
  if (!(*range)->last || first % kPage != 0 || (*(*range)->last + 1) % kPage != 0) {
    const std::string_view header = call.headers().has("x-ms-range") ? "x-ms-range" : "Range";
    return wire::invalid_header(header, call.headers().get(header));
  }
  return Span{first, *(*range)->last - first + 1};
}

Outcome write_pages(Call& call, const Checks& checks, Span range, const Uploaded* uploaded) {
  auto sequence = decode_sequence_conditions(call);
  if (!sequence) co_return sequence.error();
  content::Pieces pieces;
  if (uploaded != nullptr) {
    pieces = uploaded->pieces;
    for (auto& piece : pieces) piece.offset += range.offset;
  }
  auto edit = [&](Change& change) -> Task<wire::Result<void>> {
    Blob& blob = *change.blob;
    if (blob.type != BlobType::kPage) co_return wire::Error(Code::kInvalidBlobType);
    if (blob.copy.incremental)
      co_return wire::Error(Code::kOperationNotAllowedOnIncrementalCopyBlob);
    if (!concurrency::sequence_conditions_met(*sequence, blob.sequence_number)) {
      co_return wire::Error(Code::kSequenceNumberConditionNotMet);
    }
    if (range.offset >= blob.content.length || range.count > blob.content.length - range.offset) {
      co_return wire::Error(Code::kInvalidPageRange);
    }
    auto written =
        co_await content::overwrite(call.store(), change.commit, change.place.content(),
                                    blob.content, range.offset, range.count, pieces, call.deadline);
    if (!written) co_return service::storage_error(written.error());
    touch(call, blob);
    // Differences are to snapshots; what is cleared now is cleared after the last one.
    if (uploaded == nullptr && blob.snapshot_taken.set()) {
      const int64_t since = std::max(blob.changed.ticks, blob.snapshot_taken.ticks + 1);
      content::note_cleared(blob.cleared, range.offset, range.offset + range.count,
                            static_cast<uint64_t>(since));
    }
    co_return wire::Result<void>();
  };
  auto changed = co_await change_blob(call, checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(201);
  encode_changed(reply, changed->changed);
  reply.header("x-ms-blob-sequence-number", changed->sequence_number);
  if (uploaded != nullptr) {
    encode_hash(reply, *uploaded);
    encode_encrypted(reply, checks.key);
    encode_structured(reply, *uploaded);
  }
  co_return reply;
}

}  // namespace kyanite::blob
