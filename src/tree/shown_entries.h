// The entries of a directory in the order of their folded names, as a share has them now or as a
// snapshot shows them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/store.h"
#include "tree/records.h"
#include "tree/tree.h"

namespace kyanite::tree {

class ShownEntries {
 public:
  // Those whose folded name begins with `prefix`, from the folded name `start` on. Valid as long as
  // the view.
  ShownEntries(const store::View& view, const Tree& tree, EntryId directory,
               const std::string& prefix, const std::string& start);

  // The next one; nothing at the end.
  store::Result<std::optional<Entry>> next();

 private:
  store::Result<std::optional<Entry>> next_live();
  // The first name that either of the two families has.
  std::optional<std::string> next_name() const;

  const Tree& tree_;
  const EntryId directory_;
  std::unique_ptr<store::View::Cursor> live_;
  std::unique_ptr<store::View::Cursor> former_;  // Null unless a snapshot is shown.
};

}  // namespace kyanite::tree
