// Clients that cache a file, in words: "RWH" for what they have, "RWH>RH!" for what they were told.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/started.h"
#include "tree/open_files_test_support.h"

namespace kyanite::tree {

inline concurrency::Caching caching(std::string_view letters) {
  uint8_t bits = 0;
  for (const char letter : letters) {
    if (letter == 'R') bits |= concurrency::kReadCaching.bits();
    if (letter == 'W') bits |= concurrency::kWriteCaching.bits();
    if (letter == 'H') bits |= concurrency::kHandleCaching.bits();
  }
  return concurrency::Caching(bits);
}
inline std::string text_of(concurrency::Caching held) {
  std::string letters;
  if (held.has(concurrency::kReadCaching)) letters += 'R';
  if (held.has(concurrency::kWriteCaching)) letters += 'W';
  if (held.has(concurrency::kHandleCaching)) letters += 'H';
  return letters.empty() ? "-" : letters;
}

// What a client was told, since it was last asked about it.
class TestHolder final : public CacheHolder {
 public:
  void caching_breaks(const CacheBreak& broken) override {
    last = broken;
    told_ += (told_.empty() ? "" : " ") + text_of(broken.from) + ">" + text_of(broken.to) +
             (broken.acknowledge ? "!" : "");
  }
  std::string told() { return std::exchange(told_, {}); }

  CacheBreak last;

 private:
  std::string told_;
};

inline LeaseName lease_name(char client, char key) {
  LeaseName name;
  name.client.fill(client);
  name.key.fill(key);
  return name;
}

class CachingTest : public ::testing::Test {
 protected:
  // An open of the file that wants to cache, as an oplock or under a key of a client.
  static FileOpen wanting(std::string_view letters, std::shared_ptr<TestHolder> holder,
                          char key = 0, char client = 'a') {
    FileOpen request = file_open(kReadAccess | kWriteAccess, kFullAccess);
    request.caching.caching = caching(letters);
    request.caching.holder = std::move(holder);
    if (key != 0) request.caching.lease = lease_name(client, key);
    return request;
  }
  std::string held(HandleId handle) const {
    const auto state = table.caching(handle);
    return state ? text_of(state->caching) : "none";
  }
  // Begins without waiting: whether it is done is seen in the optional.
  struct Opening {
    std::optional<kyanite::Result<HandleId, Refusal>> result;
  };
  std::shared_ptr<Opening> begin_open(FileOpen request) {
    auto opening = std::make_shared<Opening>();
    const auto run = [](OpenFiles& files, FileOpen asked,
                        std::shared_ptr<Opening> out) -> Task<void> {
      out->result.emplace(co_await files.open(std::move(asked)));
    };
    detach(run(table, std::move(request), opening));
    return opening;
  }

  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
  OpenFiles table{clock};
  std::shared_ptr<TestHolder> a = std::make_shared<TestHolder>();
  std::shared_ptr<TestHolder> b = std::make_shared<TestHolder>();
};

}  // namespace kyanite::tree
