#include "upkeep/copy_file.h"

#include <algorithm>

#include "base/buffer.h"
#include "store/checksum.h"

namespace kyanite::upkeep {

namespace {

bool is_zeros(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; });
}

Result<void, std::string> outcome(const os::Result<void>& result) {
  if (!result) return Failure{result.error().what};
  return {};
}

void append_number(std::string& text, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(number >> shift);
}

}  // namespace

void PartSum::add(std::string_view part) {
  constexpr size_t kMostBytes = 4096;
  bytes_ += part.size();
  append_number(parts_, store::crc32c(part));
  if (parts_.size() >= kMostBytes) fold();
}

Copied PartSum::get() {
  fold();
  return {bytes_, read_};
}

void PartSum::fold() {
  if (parts_.empty()) return;
  append_number(parts_, read_);
  read_ = store::crc32c(parts_);
  parts_.clear();
}

Result<Copied, std::string> read_parts(const std::string& path, Pace& pace, const TakePart& take) {
  auto file = os::File::open(path, os::File::Mode::kRead);
  if (!file) return Failure{file.error().what};
  Buffer part(kPartBytes);
  uint64_t offset = 0;
  PartSum sum;
  while (true) {
    part.resize(kPartBytes);
    auto count = (*file)->read_at(part.data(), kPartBytes, offset);
    if (!count) return Failure{count.error().what};
    if (*count == 0) break;
    part.resize(*count);
    sum.add(part.view());
    if (auto taken = take(part.view(), offset); !taken) return Failure{taken.error()};
    offset += *count;
    pace.moved(*count);
  }
  return sum.get();
}

Result<PartWriter, std::string> PartWriter::open(const std::string& path) {
  auto file = os::File::open(path, os::File::Mode::kCreateOrOpen);
  if (!file) return Failure{file.error().what};
  if (auto cut = (*file)->truncate(0); !cut) return Failure{cut.error().what};
  return PartWriter(std::move(*file));
}

Result<void, std::string> PartWriter::write(std::string_view part, uint64_t offset) {
  if (is_zeros(part)) return {};
  return outcome(file_->write_at(part, offset));
}

Result<void, std::string> PartWriter::finish(uint64_t bytes) {
  if (auto sized = file_->truncate(bytes); !sized) return Failure{sized.error().what};
  return outcome(file_->sync_data());
}

}  // namespace kyanite::upkeep
