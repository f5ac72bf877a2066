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
    case Error::kUnknown:
      return "the device failed in the middle of a commit";
    case Error::kTooLarge:
      return "more than one commit may hold";
    case Error::kBusy:
      return "too many wait for the same";
    case Error::kTimeout:
      return "the time was over";
  }
  return "unknown";
}

Task<Result<void>> scan(Store& store, Range range, See see, Deadline deadline) {
  const auto snapshot = store.snapshot();
  bool more = true;
  const Look look = [&](const View& view) -> Result<void> {
    auto cursor = view.scan(range);
    for (; cursor->valid(); cursor->next()) {
      auto goes_on = see(*cursor);
      if (!goes_on) return goes_on.error();
      more = *goes_on;
      if (!more) return {};
      if (view.enough()) {
        range.start_at(std::string(cursor->key()) + '\0');
        return {};
      }
    }
    more = false;
    return cursor->status();
  };
  while (more) {
    if (deadline.over()) co_return Error::kTimeout;
    if (auto looked = co_await snapshot->scan(look); !looked) co_return looked.error();
  }
  co_return Result<void>();
}

Result<void> check_well_formed(const Commit& commit) {
  CHECK(!commit.writes.empty() || !commit.guards.empty());
  size_t bytes = 0;
  const Key& first = commit.writes.empty() ? commit.guards.front().key : commit.writes.front().key;
  for (const auto& guard : commit.guards) {
    CHECK(guard.key.space() == first.space());
    bytes += guard.key.bytes().size();
  }
  for (const auto& write : commit.writes) {
    CHECK(write.key.space() == first.space());
    CHECK(write.record == nullptr || !write.record->value.empty());
    bytes += write.key.bytes().size() + (write.record == nullptr ? 0 : write.record->value.size());
  }
  if (commit.guards.size() + commit.writes.size() > kMaxCommitRecords || bytes > kMaxCommitBytes)
    return Error::kTooLarge;
  return {};
}

std::optional<RecordPtr> Store::peek(const Key&) { return std::nullopt; }

Task<Result<std::vector<Ref>>> Store::append_all(std::vector<Buffer> runs) {
  std::vector<Ref> refs;
  for (Buffer& run : runs) {
    auto ref = co_await append(std::move(run));
    if (!ref) co_return ref.error();
    refs.push_back(*ref);
  }
  co_return std::move(refs);
}

}  // namespace kyanite::store
