// No bytes harm the decoders of what the services store, and what decodes settles: encoding it
// gives bytes that decode and encode to themselves. The first byte says which record the others
// are.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "account/properties.h"
#include "base/check.h"
#include "blob/records.h"
#include "file/records.h"
#include "lifetime/deleted.h"
#include "lifetime/directory.h"
#include "queue/records.h"
#include "store/fields.h"
#include "table/table.h"

namespace {
using namespace kyanite;

template <class T>
void check(std::string_view bytes) {
  const auto value = store::decode<T>(bytes);
  if (!value) return;
  const std::string encoded = store::encode(*value);
  const auto again = store::decode<T>(encoded);
  CHECK(again);
  CHECK(store::encode(*again) == encoded);
}

// Fields whose default is not empty are never stored empty: as that is not written, it would be
// read as the default. Generations count from 1,
void check_share_state(std::string_view bytes) {
  const auto state = store::decode<file::ShareState>(bytes);
  if (state && state->current > 0) check<file::ShareState>(bytes);
}

// and whatever has an owner belongs to somebody.
void check_blob(std::string_view bytes) {
  const auto blob = store::decode<blob::Blob>(bytes);
  if (!blob) return;
  if (blob->node && (blob->node->access.owner.empty() || blob->node->access.group.empty())) return;
  check<blob::Blob>(bytes);
}

// New ones at the end: the seeds count from the front.
using Check = void (*)(std::string_view bytes);
constexpr Check kChecks[] = {
    check_blob,
    check<blob::Container>,
    check<lifetime::Deleted<blob::Container>>,
    check<queue::Queue>,
    check<queue::Message>,
    check<table::Table>,
    check<file::Share>,
    check_share_state,
    check<file::Snapshot>,
    check<file::Permission>,
    check<file::Entry>,
    check<account::ServiceProperties>,
    check<lifetime::DeadSpace>,
    check<lifetime::Deleted<file::Share>>,
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kChecks[data[0] % std::size(kChecks)](bytes.substr(1));
  return 0;
}
