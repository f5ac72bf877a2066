#include "upkeep/runs.h"

#include "engine/extent_file.h"
#include "store/checksum.h"

namespace kyanite::upkeep {

os::Result<std::shared_ptr<const os::File>> Runs::open(uint64_t extent) {
  if (const auto found = open_.find(extent); found != open_.end()) return found->second;
  auto file = os::File::open(extents_ + "/" + engine::extent_name(extent), os::File::Mode::kRead);
  if (!file) return file;
  if (open_.size() >= kMostOpen) open_.erase(open_.begin());
  open_[extent] = *file;
  return file;
}

std::optional<std::string> Runs::problem(const store::Ref& ref) {
  const auto where = [&](const std::string& what) {
    return what + " (extents/" + engine::extent_name(ref.extent) + " at " +
           std::to_string(ref.offset) + ", " + std::to_string(ref.length) + " bytes)";
  };
  auto file = open(ref.extent);
  if (!file) return where(file.error().what);
  buffer_.resize(ref.length);
  auto count = (*file)->read_at(buffer_.data(), ref.length, ref.offset);
  bytes_ += ref.length;
  pace_.moved(ref.length);
  if (!count) return where(count.error().what);
  if (*count != ref.length) return where("the file is too short");
  if (store::crc32c(buffer_.view()) != ref.crc32c) return where("the checksum does not match");
  return std::nullopt;
}

}  // namespace kyanite::upkeep
