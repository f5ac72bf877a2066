#include "upkeep/copy_file.h"

#include <algorithm>
#include <functional>

#include "base/buffer.h"
#include "store/checksum.h"

namespace kyanite::upkeep {

namespace {

constexpr size_t kPartBytes = 1 << 20;

bool is_zeros(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

// The checksum of a whole from those of its parts: that of the text of all of them.
class Sum {
 public:
  void add(std::string_view part) {
    const uint32_t crc = store::crc32c(part);
    for (int shift = 0; shift < 32; shift += 8) parts_ += static_cast<char>(crc >> shift);
    if (parts_.size() >= kMostParts) fold();
  }
  uint32_t get() {
    fold();
    return read_;
  }

 private:
  static constexpr size_t kMostParts = 4096;
  void fold() {
    if (parts_.empty()) return;
    for (int shift = 0; shift < 32; shift += 8) parts_ += static_cast<char>(read_ >> shift);
    read_ = store::crc32c(parts_);
    parts_.clear();
  }
  std::string parts_;
  uint32_t read_ = 0;
};

using Take = std::function<os::Result<void>(std::string_view part, uint64_t offset)>;
os::Result<Copied> read_all(const std::string& path, Pace& pace, const Take& take) {
  auto file = os::File::open(path, os::File::Mode::kRead);
  if (!file) return Failure{file.error()};
  Buffer part(kPartBytes);
  Copied copied;
  Sum sum;
  while (true) {
    part.resize(kPartBytes);
    auto count = (*file)->read_at(part.data(), kPartBytes, copied.bytes);
    if (!count) return Failure{count.error()};
    if (*count == 0) break;
    part.resize(*count);
    sum.add(part.view());
    if (auto taken = take(part.view(), copied.bytes); !taken) return Failure{taken.error()};
    copied.bytes += *count;
    pace.moved(*count);
  }
  copied.crc32c = sum.get();
  return copied;
}

}  // namespace

os::Result<Copied> copy_file(const std::string& from, const std::string& to, Pace& pace) {
  auto target = os::File::open(to, os::File::Mode::kCreateOrOpen);
  if (!target) return Failure{target.error()};
  if (auto cut = (*target)->truncate(0); !cut) return Failure{cut.error()};
  auto copied = read_all(from, pace, [&](std::string_view part, uint64_t offset) {
    return is_zeros(part) ? os::Result<void>() : (*target)->write_at(part, offset);
  });
  if (!copied) return copied;
  if (auto sized = (*target)->truncate(copied->bytes); !sized) return Failure{sized.error()};
  if (auto synced = (*target)->sync_data(); !synced) return Failure{synced.error()};
  return copied;
}

os::Result<Copied> sum_file(const std::string& path, Pace& pace) {
  return read_all(path, pace, [](std::string_view, uint64_t) { return os::Result<void>(); });
}

}  // namespace kyanite::upkeep
