// Going through a directory that somebody has open, in portions of any size: names in order, each
// once, whatever comes and goes meanwhile.
#pragma once

#include <functional>
#include <string>

#include "base/task.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/opened.h"
#include "tree/records.h"

namespace kyanite::tree {

class DirectoryCursor {
 public:
  // Whether an entry is wanted, by its folded name.
  using Match = std::function<bool(std::string_view folded)>;
  // Takes an entry; false: there is no room, and it comes again with the next call.
  using Take = std::function<bool(const Entry& entry)>;

  // What `match` takes: much is not for threads that others wait for.
  enum class Effort { kLittle, kMuch };

  // Shows those whose folded name begins with `prefix` until there is no room or no more of them.
  // `match` and `prefix` are used in other threads meanwhile.
  Task<Result<void>> go_on(store::Occasion& occasion, Opened& directory, const std::string& prefix,
                           const Match& match, const Take& take, Effort effort = Effort::kLittle);
  void restart() { *this = {}; }

 private:
  std::string start_;  // The folded name to go on with.
  bool at_end_ = false;
};

}  // namespace kyanite::tree
