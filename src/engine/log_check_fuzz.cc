// Any bytes can be held for a log. In one of whole records, which the first bytes of the input
// describe, every changed byte that a record follows is found, and nothing is wrong with any cut.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "engine/log_check.h"
#include "engine/test_log.h"

namespace {
using namespace kyanite;
using engine::TestLog;

constexpr size_t kRecords = 4;

void check_changed(const TestLog& log, uint32_t place, char change) {
  const size_t at = place % log.last_begin();
  std::string bytes = log.bytes();
  bytes[at] = static_cast<char>(bytes[at] ^ change);
  const auto checked = engine::check_log(bytes);
  CHECK(checked.damage && *checked.damage <= at);
}

void check_cut(const TestLog& log, uint32_t place) {
  const auto checked = engine::check_log(log.bytes().substr(0, place % log.bytes().size()));
  CHECK(!checked.damage && checked.next < log.next());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)engine::check_log({reinterpret_cast<const char*>(data), size});
  if (size < kRecords + sizeof(uint32_t) + 1) return 0;
  TestLog log;
  for (size_t i = 0; i < kRecords; ++i) log.add(1 + data[i] % 3u, data[i]);
  const uint32_t place = read_le32(reinterpret_cast<const char*>(data) + kRecords);
  if (const char change = static_cast<char>(data[kRecords + sizeof place])) {
    check_changed(log, place, change);
  } else {
    check_cut(log, place);
  }
  return 0;
}
