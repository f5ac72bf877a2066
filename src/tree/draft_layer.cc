#include "tree/draft_layer.h"

#include <iterator>
#include <utility>

namespace kyanite::tree {

namespace {

template <class T>
void take_newer(std::optional<T>& mine, const std::optional<T>& newer) {
  if (newer) mine = newer;
}
template <class T>
void keep_older(std::optional<T>& mine, const std::optional<T>& newer) {
  if (!mine) mine = newer;
}

// As far as can be told from a moment that never comes.
constexpr Moment kInTheEnd{INT64_MAX / 2};

}  // namespace

void DraftLayer::lay(DraftLayer newer) {
  bytes.lay(std::move(newer.bytes));
  take_newer(written, newer.written);
  take_newer(changed, newer.changed);
  keep_older(untold, newer.untold);
  take_newer(told, newer.told);
  keep_older(since, newer.since);
  promised += newer.promised;
  promised_to = newer.promised_to;
  std::move(newer.kept.begin(), newer.kept.end(), std::back_inserter(kept));
}

void DraftLayer::lay_over(Entry& entry, Moment now) const {
  entry.content.length = bytes.length(entry.content.length);
  if (is_untold(now)) {
    if (told) entry.smb.written = *told;
    return;
  }
  if (written) entry.smb.written = *written;
  if (changed) entry.smb.changed = *changed;
}

void DraftLayer::note_written(Time date, Moment now, bool soon) {
  if (written && !is_untold(now)) {
    told = written;
    untold.reset();
  }
  written = changed = date;
  if (!untold) untold = soon ? now : kInTheEnd;
}

void DraftLayer::end_writing(Time date) {
  if (waits_for_writer()) written = changed = date;
  end_waiting();
}

bool DraftLayer::waits_for_writer() const { return untold == kInTheEnd; }

void DraftLayer::end_waiting() {
  if (waits_for_writer()) untold.reset();
}

void DraftLayer::cut(uint64_t length) {
  bytes.set_length(length);
  if (promised_to <= length) return;
  promised -= std::min(promised, promised_to - length);
  promised_to = length;
}

DraftLayer DraftLayer::take(std::optional<Moment> now) {
  DraftLayer taken = std::exchange(*this, {});
  promised_to = taken.promised_to;
  if (now && taken.is_untold(*now)) {
    written = std::exchange(taken.written, std::exchange(taken.told, std::nullopt));
    changed = std::exchange(taken.changed, std::nullopt);
    untold = std::exchange(taken.untold, std::nullopt);
  }
  return taken;
}

}  // namespace kyanite::tree
