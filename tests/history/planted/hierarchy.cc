// In the place of blob/hierarchy.cc: a path is followed, and nobody looks again whether its
// directories are still there once what is at its end was read.
#include "blob/hierarchy.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "fault.h"

namespace kyanite::blob {

namespace {

// So long it takes one reader in a few from the last directory to what is in it: time enough for
// others to rename the one and to write the other. Meanwhile its event loop stands, so not all do.
constexpr std::chrono::milliseconds kDelay{10};
constexpr unsigned kOneIn = 8;

bool is_slow() {
  static std::atomic<unsigned> readers{0};
  return readers.fetch_add(1) % kOneIn == 0;
}

}  // namespace

}  // namespace kyanite::blob

#define confirm sound_confirm
#define follow sound_follow
#include "blob/hierarchy.cc"
#undef confirm
#undef follow

namespace kyanite::blob {

Task<wire::Result<std::shared_ptr<const Way>>> follow(Call& call, const Container& container,
                                                      std::string_view path, Parents parents) {
  auto way = co_await sound_follow(call, container, path, parents);
  if (planted::has("astray") && call.request.method == "GET" && is_slow())
    std::this_thread::sleep_for(kDelay);
  co_return std::move(way);
}

Task<wire::Result<void>> confirm(Call& call, const store::Key& key, store::RecordPtr seen) {
  return sound_confirm(call, key, std::move(seen));
}

Task<wire::Result<void>> confirm(Call& call, const Way& way) {
  if (planted::has("astray")) co_return wire::Result<void>();
  co_return co_await sound_confirm(call, way);
}

}  // namespace kyanite::blob
