// Moving blobs where there are no directories.
//
// Within one container a blob moves by one commit. Each container is a space of its own, and a
// commit is of one space. So between two of them the blob comes to its new place first, and leaves
// the old one as it was read there or not at all: whenever the server dies it is in one of them or
// in both, never in none.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/task.h"
#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// One end of a rename: who asks there, and in which container.
struct FlatEnd {
  service::Call& call;
  store::SpaceId space;
};

// One blob on its way.
struct FlatMove {
  // What may be at its new place.
  enum class Over {
    kAnything,
    kNothing,
    kDirectory,  // A directory, which it is itself. One that is being made by a rename stays so,
                 // unless the rename ends by this.
  };
  std::string from;
  std::string to;
  Over over = Over::kNothing;
  std::optional<headers::Metadata> properties = {};  // In place of its own.
  std::string mark = {};  // What the directory says that it replaces, where a rename ends by this.
};

// Whether it only marks the way of a rename. What no longer says that it is a directory is
// somebody's file.
bool marks_way(const blob::Blob& blob);

// The rules for both ends. A blob that leaves is kept as one that is deleted, and what it replaces
// as by Put Blob.
blob::Rules leaving_rules();
blob::Rules coming_rules();
// Under such rules, without conditions and leases.
blob::Checks unconditional(const blob::Rules& rules);

class FlatMover {
 public:
  FlatMover(FlatEnd from, FlatEnd to) : from_(from), to_(to) {}

  // Moves as many of them, from the first on, as one commit should. Those that are gone meanwhile
  // are left out. The checks hold for each. What is refused leaves all of them as they are.
  struct Moved {
    size_t taken = 0;                // How many were looked at: the rest is for the next call.
    std::optional<blob::Blob> last;  // The last that was moved.
  };
  Task<wire::Result<Moved>> move(std::span<const FlatMove> moves, const blob::Checks& leaving,
                                 const blob::Checks& coming);

  // Whether a blob may leave its place: not held, without snapshots, and as its checks say.
  wire::Result<void> check_leaving(const blob::Checks& checks, const blob::Blob& blob,
                                   bool has_snapshots) const;

 private:
  // What was copied to another container, in the order of the moves; nothing: it was gone.
  struct Copied {
    store::RecordPtr record;  // The source as it was read,
    blob::Blob blob;          // decoded.
    store::RecordPtr made;    // The copy where nothing was before; null: something was.
    bool is_orphan = false;   // The source was gone when it was to leave.
  };
  using Copies = std::vector<std::optional<Copied>>;

  bool is_within_one() const { return from_.space == to_.space; }
  Task<wire::Result<Moved>> move_within(std::span<const FlatMove> moves,
                                        const blob::Checks& leaving, const blob::Checks& coming);
  Task<wire::Result<Moved>> move_across(std::span<const FlatMove> moves,
                                        const blob::Checks& leaving, const blob::Checks& coming);
  Task<wire::Result<Moved>> copy(std::span<const FlatMove> moves, const blob::Checks& leaving,
                                 const blob::Checks& coming, Copies& copies);
  // Takes away what was copied; those that changed since are to be copied again.
  Task<wire::Result<std::vector<FlatMove>>> leave(std::span<const FlatMove> moves, Copies& copies);
  // Takes copies back whose source somebody else had deleted or renamed before it was to leave. How
  // many there were.
  Task<wire::Result<size_t>> take_back(std::span<const FlatMove> moves, const Copies& copies);
  Task<wire::Result<void>> wait_for(store::Attempt& attempt, std::span<const FlatMove> moves,
                                    bool leaving, bool coming) const;
  // False: it is gone.
  Task<wire::Result<bool>> begin_leaving(const blob::Checks& checks, blob::Change& leaving);
  struct Brought {
    blob::Blob blob;
    bool is_first = false;  // Nothing was seen there before.
  };
  Task<wire::Result<Brought>> bring(const FlatMove& move, const blob::Checks& checks,
                                    const blob::Change& leaving, store::Commit& commit);
  wire::Result<void> check_over(const FlatMove& move, const blob::Checks& checks,
                                const blob::Change& leaving, const blob::Change& coming) const;
  bool is_own(const FlatMove& move, const blob::Change& leaving, const blob::Blob& there) const;
  Task<wire::Result<void>> name_version(blob::Change& coming);

  FlatEnd from_;
  FlatEnd to_;
  // Of what this request copied before, and must copy again, the state that is there.
  std::vector<std::pair<std::string, blob::Blob>> again_;
};

}  // namespace kyanite::datalake
