#include "store/store.h"

#include "base/check.h"

namespace kyanite::store {

const char* describe(Error error) {
  switch (error) {
    case Error::kConflict:
      return "another commit came first";
    case Error::kFull:
      return "no space left on the device";
    case Error::kCorrupt:
      return "stored bytes do not match their checksum";
    case Error::kIo:
      return "the device failed";
  }
  return "unknown";
}

void check_well_formed(const Commit& commit) {
  CHECK(!commit.writes.empty() || !commit.guards.empty());
  const Key& first = commit.writes.empty() ? commit.guards.front().key : commit.writes.front().key;
  for (const auto& guard : commit.guards) CHECK(guard.key.same_partition(first));
  for (const auto& write : commit.writes) {
    CHECK(write.key.same_partition(first));
    CHECK(write.record == nullptr || !write.record->value.empty());
  }
}

}  // namespace kyanite::store
