// Reading and writing files that clients have open. Whether the handle may do so is known to who
// calls; byte-range locks are looked at here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "content/byte_runs.h"
#include "os/file.h"
#include "store/occasion.h"
#include "tree/error.h"
#include "tree/opened.h"

namespace kyanite::tree {

inline constexpr uint64_t kMaxFileBytes = uint64_t{4} << 40;

struct ReadBytes {
  std::vector<os::Bytes> pieces;
  store::Hold hold;  // Until pieces that are parts of files have been read from them.
};
// Up to `length` bytes, fewer where the file ends and none behind its end.
Task<Result<ReadBytes>> read(store::Occasion& occasion, Opened& opened, uint64_t offset,
                             uint64_t length);

// Written once it returns for everybody to see, and durable with the next flush(). kAccessDenied
// where something is, for a handle that only appends.
Task<Result<void>> write(store::Occasion& occasion, Opened& opened, uint64_t offset,
                         std::string_view bytes);

// Whatever was written to the file before is durable.
Task<Result<void>> flush(store::Occasion& occasion, Opened& opened);

Task<Result<void>> set_length(store::Occasion& occasion, Opened& opened, uint64_t length);

// [from, to) becomes zeros, as far as the file goes.
Task<Result<void>> clear_range(store::Occasion& occasion, Opened& opened, uint64_t from,
                               uint64_t to);

// What of [from, to) has ever been written, ascending: the first runs of it, and as many as `most`
// if there are so many. A large file is looked at part by part, each as it is then.
Task<Result<content::ByteRuns>> written_ranges(store::Occasion& occasion, Opened& opened,
                                               uint64_t from, uint64_t to, size_t most);

// Copies bytes between files of this server by sharing what is stored of them. The source must
// have them all: kNotFound where it is shorter.
Task<Result<void>> copy_range(store::Occasion& occasion, Opened& from, uint64_t source_offset,
                              Opened& to, uint64_t target_offset, uint64_t length);

}  // namespace kyanite::tree
