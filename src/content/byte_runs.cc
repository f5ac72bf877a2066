#include "content/byte_runs.h"

#include <algorithm>

namespace kyanite::content {

namespace {

// Runs that touch become one.
void add(ByteRuns& ranges, uint64_t start, uint64_t end, bool clear) {
  if (!ranges.empty() && ranges.back().end == start && ranges.back().clear == clear) {
    ranges.back().end = end;
  } else {
    ranges.push_back({start, end, clear});
  }
}

const Piece* piece_at(const Pieces& pieces, size_t& next, uint64_t offset) {
  while (next < pieces.size() && pieces[next].end() <= offset) ++next;
  return next < pieces.size() && pieces[next].offset <= offset ? &pieces[next] : nullptr;
}

// Whether `offset` is in a run, and where that ends: behind the run, or where the next begins.
struct InRun {
  bool inside = false;
  uint64_t stop = UINT64_MAX;
};
InRun run_at(const ClearedRuns& runs, size_t& next, uint64_t offset) {
  while (next < runs.size() && runs[next].end <= offset) ++next;
  if (next == runs.size()) return {};
  if (runs[next].start <= offset) return {true, runs[next].end};
  return {false, runs[next].start};
}

}  // namespace

void add_written(const Pieces& pieces, ByteRuns& runs) {
  for (const auto& piece : pieces) add(runs, piece.offset, piece.end(), false);
}

ByteRuns written(const Pieces& pieces) {
  ByteRuns ranges;
  add_written(pieces, ranges);
  return ranges;
}

Task<store::Result<ByteRuns>> difference(store::Store& store, const Pieces& before,
                                         const Pieces& after, uint64_t offset, uint64_t count,
                                         ClearedRuns cleared) {
  ByteRuns ranges;
  size_t next_before = 0;
  size_t next_after = 0;
  size_t next_cleared = 0;
  const uint64_t end = offset + count;
  const auto stop_of = [&](const Piece* piece, const Pieces& pieces, size_t next) {
    if (piece != nullptr) return piece->end();
    return next < pieces.size() ? pieces[next].offset : end;
  };
  for (uint64_t at = offset; at < end;) {
    const auto* old_piece = piece_at(before, next_before, at);
    const auto* new_piece = piece_at(after, next_after, at);
    const InRun in_cleared = run_at(cleared, next_cleared, at);
    const uint64_t stop = std::min({end, stop_of(old_piece, before, next_before),
                                    stop_of(new_piece, after, next_after), in_cleared.stop});
    if (new_piece != nullptr) {
      bool same = false;
      if (old_piece != nullptr) {
        const Piece one = old_piece->part(at, stop);
        const Piece other = new_piece->part(at, stop);
        auto looked = co_await same_write(store, one, other);
        if (!looked) co_return looked.error();
        same = *looked;
      }
      if (!same) add(ranges, at, stop, false);
    } else if (old_piece != nullptr || in_cleared.inside) {
      add(ranges, at, stop, true);
    }
    at = stop;
  }
  co_return std::move(ranges);
}

}  // namespace kyanite::content
