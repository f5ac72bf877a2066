// Whose draft is stored next: clients by turns, so that one who has thousands of them keeps nobody
// else waiting. Plain data: what has it says who guards it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "tree/drafts.h"

namespace kyanite::tree {

class DraftTurns {
 public:
  // No session has more than `most` stored at once.
  explicit DraftTurns(size_t most) : most_(most) {}

  // These are old now, each session's in this order. What has waited until now is among them.
  void renew(const std::vector<Drafts::Old>& old);
  // The next one; nothing while there is none. done() is said of each.
  std::optional<Drafts::Old> take();
  void done(const Drafts::Old& taken);

 private:
  const size_t most_;
  std::map<uint64_t, std::deque<Drafts::Old>> waiting_;  // by session
  std::map<uint64_t, size_t> taken_;                     // how many of each
  uint64_t last_ = 0;                                    // whose turn it was
};

}  // namespace kyanite::tree
