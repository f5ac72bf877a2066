// Lists whose entries begin with the distance to the next one, 0 in the last: entries of
// directories, notifications, streams, network interfaces and create contexts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "smb/fields.h"

namespace kyanite::smb {

class ChainWriter {
 public:
  // Appends entries until they would be more than so many bytes.
  ChainWriter(std::string& out, size_t alignment, size_t most_bytes)
      : out_(out), start_(out.size()), alignment_(alignment), most_bytes_(most_bytes) {}

  // `write` is given a Writer that stands behind the distance, whose frame is the entry. False, and
  // nothing is appended, when there is no room.
  template <class Write>
  bool add(const Write& write) {
    const size_t before = out_.size();
    Writer padder(out_, start_);
    padder.pad_to(alignment_);
    const size_t begin = out_.size();
    Writer writer(out_);
    writer.reserved(sizeof(uint32_t));
    write(writer);
    if (out_.size() - start_ > most_bytes_) {
      out_.resize(before);
      return false;
    }
    if (last_) Writer(out_, *last_).fill(Later<uint32_t>(), begin - *last_);
    last_ = begin;
    return true;
  }

 private:
  std::string& out_;
  const size_t start_;
  const size_t alignment_;
  const size_t most_bytes_;
  std::optional<size_t> last_;  // Where the last entry begins.
};

class ChainReader {
 public:
  ChainReader(std::string_view chain, size_t alignment) : rest_(chain), alignment_(alignment) {}

  // The next entry, with its distance; nothing at the end and after an error.
  std::optional<std::string_view> next() {
    if (rest_.empty() || !ok_) return {};
    uint32_t distance = 0;
    Reader reader(rest_);
    reader(distance);
    ok_ = reader.ok() && distance % alignment_ == 0 && distance < rest_.size();
    if (!ok_) return {};
    const std::string_view entry = distance == 0 ? rest_ : rest_.substr(0, distance);
    rest_ = distance == 0 ? std::string_view() : rest_.substr(distance);
    return entry;
  }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  const size_t alignment_;
  bool ok_ = true;
};

}  // namespace kyanite::smb
