#include "tree/file_io.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "content/content.h"
#include "tree/drafts.h"

namespace kyanite::tree {

namespace {

// Writes of this many bytes go to an extent at once; smaller ones wait in memory for others.
constexpr size_t kRunBytes = 64 * 1024;

Drafts& drafts_of(const Opened& opened) { return opened.tree.open_files->drafts(); }

Result<void> check_locks(const Opened& opened, uint64_t offset, uint64_t length, bool write) {
  if (opened.handle == 0) {
    if (opened.ended()) return Error(Refusal::kNoSuchHandle);
    return {};
  }
  auto may = opened.tree.open_files->check_io(opened.handle, {offset, length}, write);
  if (!may) return Error(may.error());
  return {};
}

// --- Reading ---

// Bytes of one reply, put together from what is stored and what is not.
class Gathering {
 public:
  Gathering(store::Occasion& occasion, const Tree& tree, const SeenEntry& found,
            const content::Overlay* overlay)
      : store_(occasion.store()), tree_(tree), found_(found), overlay_(overlay) {
    const uint64_t stored = found.entry->content.length;
    length_ = overlay != nullptr ? overlay->length(stored) : stored;
    kept_ = overlay != nullptr ? std::min(overlay->kept(), stored) : stored;
  }

  Task<store::Result<std::vector<os::Bytes>>> run(uint64_t from, uint64_t length) {
    const uint64_t end = length < length_ - std::min(from, length_) ? from + length : length_;
    uint64_t at = from;
    if (overlay_ != nullptr && from < end) {
      for (const auto& part : overlay_->parts(from, end)) {
        if (auto done = co_await add_stored(at, part.from); !done) co_return done.error();
        if (auto done = co_await add_part(part); !done) co_return done.error();
        at = part.to;
      }
    }
    if (auto done = co_await add_stored(at, end); !done) co_return done.error();
    co_return std::move(bytes_);
  }

 private:
  Task<store::Result<void>> add_stored(uint64_t from, uint64_t to) {
    if (from >= to) co_return {};
    const uint64_t end = std::min(to, kept_);
    if (from < end) {
      const auto& content = found_.entry->content;
      const auto head = found_.guard();
      const auto place = tree_.content_place();
      auto reader = co_await content::Reader::open(store_, place, content, from, end - from, head);
      if (!reader) co_return reader.error();
      while (true) {
        auto next = co_await (*reader)->next(true);
        if (!next) co_return next.error();
        if (os::size_of(*next) == 0) break;
        bytes_.push_back(std::move(*next));
      }
    }
    add_zeros(to - std::max(from, end));
    co_return {};
  }

  Task<store::Result<void>> add_part(const content::Overlay::Part& part) {
    if (!part.piece || part.piece->is_zeros()) {
      add_zeros(part.to - part.from);
    } else if (!part.piece->ref) {
      bytes_.emplace_back(Buffer::copy_of(part.piece->inline_bytes));
    } else {
      const auto& piece = *part.piece;
      auto read = co_await store_.read_run(*piece.ref, piece.skip, piece.length, true);
      if (!read) co_return read.error();
      bytes_.push_back(std::move(*read));
    }
    co_return {};
  }

  void add_zeros(uint64_t count) {
    while (count > 0) {
      Buffer zeros(std::min<uint64_t>(count, kChunkBytes));
      zeros.resize(zeros.capacity() < count ? zeros.capacity() : count);
      std::memset(zeros.data(), 0, zeros.size());
      count -= zeros.size();
      bytes_.emplace_back(std::move(zeros));
    }
  }

  store::Store& store_;
  const Tree& tree_;
  const SeenEntry& found_;
  const content::Overlay* const overlay_;
  uint64_t length_ = 0;
  uint64_t kept_ = 0;
  std::vector<os::Bytes> bytes_;
};

}  // namespace

Task<Result<ReadBytes>> read(store::Occasion& occasion, Opened& opened, uint64_t offset,
                             uint64_t length) {
  if (auto may = check_locks(opened, offset, length, false); !may) co_return may.error();
  store::Hold hold = occasion.store().hold();
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    auto draft =
        opened.handle == 0
            ? std::nullopt
            : drafts_of(opened).look(opened.file, offset,
                                     length > UINT64_MAX - offset ? UINT64_MAX : offset + length);
    auto found = co_await find_opened(occasion, opened);
    if (!found) co_return found.error();
    Gathering gathering(occasion, opened.tree, *found, draft ? &draft->bytes : nullptr);
    auto bytes = co_await gathering.run(offset, length);
    // Somebody may have locked the range meanwhile, and what was read is of later.
    if (auto may = check_locks(opened, offset, length, false); !may) co_return may.error();
    if (bytes && draft && !draft->kept.empty()) {
      // What the draft has in extents is kept by it alone, and it may be stored without that soon.
      std::vector<store::Hold> holds = std::move(draft->kept);
      holds.push_back(std::move(hold));
      hold = store::Hold(std::make_shared<std::vector<store::Hold>>(std::move(holds)));
    }
    if (bytes) co_return ReadBytes{std::move(*bytes), std::move(hold)};
    // The file was written to between its entry and its content being read.
    if (bytes.error() != store::Error::kConflict) co_return Error(bytes.error());
  }
  co_return Error(store::Error::kBusy);
}

// --- Writing ---

namespace {

// Whole pages are written from where they are.
Buffer as_run(std::string_view bytes) {
  const bool at_page = reinterpret_cast<uintptr_t>(bytes.data()) % kPageBytes == 0;
  if (!at_page || bytes.size() % kPageBytes != 0) return Buffer::copy_of(bytes);
  return Buffer::lent(const_cast<char*>(bytes.data()), bytes.size());  // Only read.
}

// The bytes as pieces of a file: in extents if they are many.
Task<store::Result<content::Pieces>> to_pieces(store::Store& store, uint64_t offset,
                                               std::string_view bytes) {
  content::Pieces pieces;
  if (bytes.size() < kRunBytes) {
    content::Piece piece;
    piece.offset = offset;
    piece.length = static_cast<uint32_t>(bytes.size());
    piece.inline_bytes = bytes;
    pieces.push_back(std::move(piece));
    co_return std::move(pieces);
  }
  std::vector<Buffer> runs;
  for (size_t at = 0; at < bytes.size(); at += kChunkBytes) {
    const auto chunk = bytes.substr(at, kChunkBytes);
    content::Piece& piece = pieces.emplace_back();
    piece.offset = offset + at;
    piece.length = static_cast<uint32_t>(chunk.size());
    runs.push_back(as_run(chunk));
  }
  auto refs = co_await store.append_all(std::move(runs));
  if (!refs) co_return refs.error();
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i].ref = (*refs)[i];
  co_return std::move(pieces);
}

// The times move, and that is told.
void note_times(const store::Occasion& occasion, const Opened& opened, DraftLayer& layer) {
  if (!opened.frozen.written) layer.written = occasion.now;
  if (!opened.frozen.changed) layer.changed = occasion.now;
  layer.untold.reset();
}

// The same for a write, of which it is told later.
void note_write(const store::Occasion& occasion, Opened& opened, DraftLayer& layer) {
  if (opened.frozen.written || opened.frozen.changed) {
    note_times(occasion, opened, layer);
    return;
  }
  layer.note_written(occasion.now, occasion.clock().moment(), !std::exchange(opened.wrote, true));
}

// Has who only appends write where the file ends, or behind it, until `turn` is over.
Task<Result<void>> check_end(store::Occasion& occasion, Opened& opened, uint64_t offset,
                             store::KeyedLocks::Turn& turn) {
  if (!opened.only_appends) co_return Result<void>();
  turn = co_await drafts_of(opened).lock_end(opened.file);
  auto state = co_await state_of(occasion, opened);
  if (!state) co_return state.error();
  if (offset < state->content.length) co_return Error(Refusal::kAccessDenied);
  co_return Result<void>();
}

// What was cut off the file counts until that is stored. Whether something was.
Task<bool> make_room_of_share(const Opened& opened) {
  const auto draft = drafts_of(opened).look(opened.file);
  if (!draft || draft->bytes.kept() == UINT64_MAX) co_return false;
  auto settled = co_await drafts_of(opened).settle(opened.file);
  co_return settled.ok();
}

// How long the file is that is to reach at least so far. kQuotaExceeded when the share has no room
// for what is missing. Where there is no quota it does not matter.
Task<Result<uint64_t>> growing(store::Occasion& occasion, Opened& opened, uint64_t end) {
  if (opened.tree.usage == nullptr) co_return end;
  auto state = co_await state_of(occasion, opened);
  if (!state) co_return state.error();
  const uint64_t length = state->content.length;
  auto room = opened.tree.check_room(length, end);
  if (!room && co_await make_room_of_share(opened)) room = opened.tree.check_room(length, end);
  if (!room) co_return room.error();
  co_return length;
}

// What the pieces have in extents stays there until the draft that gets them is stored.
void keep_extents(store::Store& store, const content::Pieces& pieces, DraftLayer& layer) {
  std::vector<store::Ref> refs;
  for (const auto& piece : pieces) {
    if (piece.ref) refs.push_back(*piece.ref);
  }
  if (!refs.empty()) layer.kept.push_back(store.keep(std::move(refs)));
}

Task<Result<void>> change_draft(store::Occasion& occasion, Opened& opened, ByteRange range,
                                const Growth& growth, const Drafts::Change& change) {
  Drafts& drafts = drafts_of(opened);
  // Before, so that who cannot store anything does not keep more and more.
  if (auto room = co_await drafts.make_room(opened.file); !room) co_return room.error();
  auto done = drafts.change(occasion, opened, range, growth, change);
  if (!done && done.error() == Error(Reason::kQuotaExceeded) && co_await make_room_of_share(opened))
    done = drafts.change(occasion, opened, range, growth, change);
  co_return done;
}

}  // namespace

Task<Result<void>> write(store::Occasion& occasion, Opened& opened, uint64_t offset,
                         std::string_view bytes) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  if (offset > kMaxFileBytes || bytes.size() > kMaxFileBytes - offset)
    co_return Error(Reason::kTooLarge);
  if (auto may = check_locks(opened, offset, bytes.size(), true); !may) co_return may.error();
  if (bytes.empty()) co_return Result<void>();
  store::KeyedLocks::Turn turn;
  if (auto may = co_await check_end(occasion, opened, offset, turn); !may) co_return may.error();
  const uint64_t end = offset + bytes.size();
  auto length = co_await growing(occasion, opened, end);
  if (!length) co_return length.error();
  const store::Hold hold = occasion.store().hold();
  auto pieces = co_await to_pieces(occasion.store(), offset, bytes);
  if (!pieces) co_return Error(pieces.error());
  const Drafts::Change change = [&](DraftLayer& layer) {
    keep_extents(occasion.store(), *pieces, layer);
    for (auto& piece : *pieces) layer.bytes.write(std::move(piece));
    note_write(occasion, opened, layer);
  };
  const ByteRange range{offset, bytes.size()};
  const Growth growth{*length, end};
  co_return co_await change_draft(occasion, opened, range, growth, change);
}

Task<Result<void>> flush(store::Occasion&, Opened& opened) {
  if (opened.handle == 0) co_return Result<void>();
  if (auto settled = co_await drafts_of(opened).settle(opened.file); !settled)
    co_return settled.error();
  // A handle that was closed by force promises nothing: its share may be gone.
  const auto lost = opened.tree.open_files->take_lost(opened.handle);
  if (!lost) co_return Error(lost.error());
  if (*lost) co_return Error(store::Error::kCorrupt);
  co_return Result<void>();
}

// Locks of ranges keep nobody from it, as on Windows: they are of those who read and write there.
Task<Result<void>> set_length(store::Occasion& occasion, Opened& opened, uint64_t length) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  if (length > kMaxFileBytes) co_return Error(Reason::kTooLarge);
  if (auto may = check_locks(opened, 0, 0, true); !may) co_return may.error();
  auto before = co_await state_of(occasion, opened);
  if (!before) co_return before.error();
  const uint64_t old = before->content.length;
  // Who has written sets the time of that with it.
  if (length == old && !opened.wrote) co_return Result<void>();
  if (length >= old) {
    // What others write behind it meanwhile comes after this, and stays.
    const Drafts::Change grow = [&](DraftLayer& layer) {
      layer.bytes.reach(length);
      note_times(occasion, opened, layer);
    };
    const Growth growth{old, length};
    co_return co_await change_draft(occasion, opened, {}, growth, grow);
  }
  const Drafts::Change cut = [&](DraftLayer& layer) {
    layer.cut(length);
    note_times(occasion, opened, layer);
  };
  co_return co_await change_draft(occasion, opened, {}, {}, cut);
}

Task<Result<void>> clear_range(store::Occasion& occasion, Opened& opened, uint64_t from,
                               uint64_t to) {
  if (opened.handle == 0) co_return Error(Reason::kShownOnly);
  auto before = co_await state_of(occasion, opened);
  if (!before) co_return before.error();
  to = std::min(to, before->content.length);
  if (from >= to) co_return Result<void>();
  if (auto may = check_locks(opened, from, to - from, true); !may) co_return may.error();
  const Drafts::Change change = [&](DraftLayer& layer) {
    layer.bytes.clear(from, to);
    note_times(occasion, opened, layer);
  };
  const ByteRange range{from, to - from};
  co_return co_await change_draft(occasion, opened, range, {}, change);
}

// --- Ranges ---

namespace {

// The stored pieces of [from, to), all of them or the first, as of one state of the file.
struct StoredPieces {
  content::Pieces pieces;
  uint64_t length = 0;  // of the file
};
Task<Result<StoredPieces>> load_pieces(store::Occasion& occasion, Opened& opened, uint64_t from,
                                       uint64_t to, content::Portion* portion) {
  for (int tries = 0; tries < store::kMaxTries; ++tries) {
    if (opened.handle != 0) {
      if (auto settled = co_await drafts_of(opened).settle(opened.file); !settled)
        co_return settled.error();
    }
    auto found = co_await find_opened(occasion, opened);
    if (!found) co_return found.error();
    const auto& content = found->entry->content;
    StoredPieces loaded{{}, content.length};
    const uint64_t end = std::min(to, content.length);
    if (portion != nullptr) portion->next = end;
    if (from >= end) co_return std::move(loaded);
    const auto head = found->guard();
    const auto place = opened.tree.content_place();
    auto pieces = co_await content::load(occasion.store(), place, content, from, end - from, head,
                                         occasion.deadline, portion);
    if (pieces) {
      loaded.pieces = std::move(*pieces);
      co_return std::move(loaded);
    }
    if (pieces.error() != store::Error::kConflict) co_return Error(pieces.error());
  }
  co_return Error(store::Error::kBusy);
}

}  // namespace

Task<Result<content::ByteRuns>> written_ranges(store::Occasion& occasion, Opened& opened,
                                               uint64_t from, uint64_t to, size_t most) {
  content::ByteRuns runs;
  while (from < to && runs.size() <= most) {
    if (occasion.deadline.over()) co_return Error(store::Error::kTimeout);
    content::Portion portion;
    auto loaded = co_await load_pieces(occasion, opened, from, to, &portion);
    if (!loaded) co_return loaded.error();
    content::add_written(loaded->pieces, runs);
    if (portion.next >= loaded->length) break;
    from = portion.next;
    co_await Executor::yield();
  }
  // The last one of so many may not be whole.
  if (runs.size() > most) runs.resize(most);
  co_return runs;
}

Task<Result<void>> copy_range(store::Occasion& occasion, Opened& from, uint64_t source_offset,
                              Opened& to, uint64_t target_offset, uint64_t length) {
  if (to.handle == 0) co_return Error(Reason::kShownOnly);
  if (target_offset > kMaxFileBytes || length > kMaxFileBytes - target_offset)
    co_return Error(Reason::kTooLarge);
  if (auto may = check_locks(from, source_offset, length, false); !may) co_return may.error();
  if (auto may = check_locks(to, target_offset, length, true); !may) co_return may.error();
  const store::Hold hold = occasion.store().hold();
  const uint64_t end = source_offset + length;
  auto loaded = co_await load_pieces(occasion, from, source_offset, end, nullptr);
  if (!loaded) co_return loaded.error();
  if (end < source_offset || end > loaded->length) co_return Error(Reason::kNotFound);
  const uint64_t target_end = target_offset + length;
  store::KeyedLocks::Turn turn;
  if (auto may = co_await check_end(occasion, to, target_offset, turn); !may) co_return may.error();
  // Somebody may have locked it meanwhile and written something.
  if (auto may = check_locks(from, source_offset, length, false); !may) co_return may.error();
  auto target_length = co_await growing(occasion, to, target_end);
  if (!target_length) co_return target_length.error();
  const Drafts::Change change = [&](DraftLayer& layer) {
    keep_extents(occasion.store(), loaded->pieces, layer);
    layer.bytes.reach(target_end);
    layer.bytes.clear(target_offset, target_end);
    for (auto& piece : loaded->pieces) {
      piece.offset = piece.offset - source_offset + target_offset;
      layer.bytes.write(std::move(piece));
    }
    note_times(occasion, to, layer);
  };
  const ByteRange range{target_offset, length};
  const Growth growth{*target_length, target_end};
  co_return co_await change_draft(occasion, to, range, growth, change);
}

}  // namespace kyanite::tree
