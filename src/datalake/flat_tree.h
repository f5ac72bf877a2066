// Directories where there are only names: a blob whose metadata says that it is one, or a name that
// others lie below. What lies below one begins with its name and a slash.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "blob/blob.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::datalake {

// How much a request does to a directory in such a container before it says how to go on.
inline constexpr size_t kFlatPageBlobs = 5'000;
inline constexpr int64_t kFlatPageSeconds = 10;
inline constexpr size_t kFlatPortion = 100;  // of one commit,
// which takes no further blob once it has come to so many records, or bytes of them.
inline constexpr size_t kEnoughRecords = 2'000;
inline constexpr size_t kEnoughBytes = 8 * 1024 * 1024;
bool is_enough(const store::Commit& commit);

struct FlatHead {
  std::string name;
  blob::Blob blob;
  bool has_snapshots = false;
};

struct FlatPortion {
  std::vector<FlatHead> heads;  // That are seen, in the order of names.
  std::string next;             // Where the next portion begins; "" when there is none.
};

// Looks at no more than `most` names that begin with `prefix`, from the name `first` on; all of one
// instant. There may be fewer heads, even none, although more follow.
Task<wire::Result<FlatPortion>> load_flat_portion(service::Call& call, store::SpaceId space,
                                                  std::string_view prefix, std::string_view first,
                                                  size_t most = kFlatPortion);

// What a path is.
struct FlatPath {
  enum class Kind {
    kNothing,
    kFile,
    kMarked,   // A directory that has a blob of its own.
    kImplied,  // A directory that only what lies below it makes one.
  };
  std::string name;  // Without slashes at its end.
  Kind kind = Kind::kNothing;
  store::RecordPtr record;         // The head of that name; null: none.
  std::optional<blob::Blob> blob;  // As it is seen; an implied one looks like what is first in it.

  bool is_directory() const { return kind == Kind::kMarked || kind == Kind::kImplied; }
  std::string below() const { return name + '/'; }
};
Task<wire::Result<FlatPath>> find_flat_path(service::Call& call, store::SpaceId space,
                                            std::string_view path);

// Whether a head is still what was found before.
bool is_same(const store::RecordPtr& one, const store::RecordPtr& other);

// Whether nothing that is seen begins with `prefix`.
Task<wire::Result<bool>> is_flat_empty(service::Call& call, store::SpaceId space,
                                       std::string_view prefix);

// Whether `may` refuses one of those that begin with `prefix`, as far as one request goes: so what
// is refused is mostly refused before anything was done.
using MayTake = std::function<wire::Result<void>(const FlatHead&)>;
Task<wire::Result<void>> check_first_page(service::Call& call, store::SpaceId space,
                                          std::string_view prefix, MayTake may);

// How far a request goes before it says how to go on. A request that gave itself less time does
// less, but something: else who only asks again would never come past what is deleted and kept.
class FlatPage {
 public:
  explicit FlatPage(const service::Call& call);
  void count(size_t blobs) { done_ += blobs; }
  bool is_over() const {
    return done_ >= kFlatPageBlobs || (has_done() && soft_.over()) || hard_.over();
  }
  bool has_done() const { return done_ > 0; }

 private:
  const Deadline soft_;
  const Deadline& hard_;
  size_t done_ = 0;
};

// Metadata of a directory, which says that it is one.
headers::Metadata marked(headers::Metadata metadata);

}  // namespace kyanite::datalake
