#include "store/key.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::store {

namespace {
constexpr size_t kPartitionStart = 9;

void append_escaped(std::string& out, std::string_view partition) {
  while (true) {
    const size_t zero = partition.find('\0');
    out.append(partition.substr(0, zero));
    if (zero == std::string_view::npos) return;
    out.append("\0\xff", 2);
    partition.remove_prefix(zero + 1);
  }
}

void append_prefix(std::string& out, SpaceId space, Family family, std::string_view partition) {
  append_be64(out, space);
  out.push_back(family);
  append_escaped(out, partition);
}

// Where the row begins; `zero` is the first one in the partition or behind it.
size_t partition_end(std::string_view bytes, size_t zero) {
  while (true) {
    CHECK(zero != std::string_view::npos && zero + 1 < bytes.size());
    if (bytes[zero + 1] == '\x01') return zero + 2;
    zero = bytes.find('\0', zero + 2);
  }
}
size_t partition_end(std::string_view bytes) {
  return partition_end(bytes, bytes.find('\0', kPartitionStart));
}
}  // namespace

std::string partition_prefix_bytes(SpaceId space, Family family, std::string_view prefix) {
  std::string out;
  out.reserve(kPartitionStart + prefix.size() + 2);
  append_prefix(out, space, family, prefix);
  return out;
}

Key::Key(SpaceId space, Family family, std::string_view partition, std::string_view row) {
  bytes_.reserve(kPartitionStart + partition.size() + 2 + row.size());
  append_prefix(bytes_, space, family, partition);
  bytes_.append("\0\x01", 2).append(row);
}

Key Key::from_bytes(std::string bytes) {
  CHECK(bytes.size() >= kPartitionStart + 2);
  Key key;
  key.bytes_ = std::move(bytes);
  return key;
}

SpaceId Key::space() const { return read_be64(bytes_.data()); }

std::string_view split_key(std::string_view bytes, std::string& partition) {
  const size_t zero = bytes.find('\0', kPartitionStart);
  const size_t end = partition_end(bytes, zero);
  const std::string_view escaped = bytes.substr(kPartitionStart, end - 2 - kPartitionStart);
  partition.assign(escaped.substr(0, zero - kPartitionStart));
  for (size_t i = partition.size(); i < escaped.size(); ++i) {
    partition.push_back(escaped[i]);
    if (escaped[i] == '\0') ++i;
  }
  return bytes.substr(end);
}

std::string Key::partition() const {
  std::string out;
  split_key(bytes_, out);
  return out;
}

std::string_view Key::row() const { return std::string_view(bytes_).substr(partition_end(bytes_)); }

bool Key::same_partition(const Key& other) const {
  const std::string_view mine(bytes_.data(), partition_end(bytes_));
  const std::string_view theirs(other.bytes_.data(), partition_end(other.bytes_));
  return mine.substr(0, 8) == theirs.substr(0, 8) &&
         mine.substr(kPartitionStart) == theirs.substr(kPartitionStart);
}

std::string after_prefix(std::string prefix) {
  while (!prefix.empty()) {
    auto& last = prefix.back();
    if (static_cast<uint8_t>(last) != 0xff) {
      last = static_cast<char>(static_cast<uint8_t>(last) + 1);
      return prefix;
    }
    prefix.pop_back();
  }
  return prefix;
}

std::string after_partition(SpaceId space, Family family, std::string_view partition) {
  std::string out = partition_prefix_bytes(space, family, partition);
  out.push_back('\0');
  out.push_back('\x02');
  return out;
}

Range::Range(std::string prefix) : from_(std::move(prefix)), to_(after_prefix(from_)) {
  CHECK(!to_.empty());  // No space has the last id.
}

Range Range::space(SpaceId space) {
  std::string prefix;
  append_be64(prefix, space);
  return Range(std::move(prefix));
}

Range Range::family(SpaceId space, Family family) { return partition_prefix(space, family, {}); }

Range Range::partition_prefix(SpaceId space, Family family, std::string_view prefix) {
  return Range(partition_prefix_bytes(space, family, prefix));
}

Range Range::rows(SpaceId space, Family family, std::string_view partition,
                  std::string_view row_prefix) {
  return Range(Key(space, family, partition, row_prefix).bytes());
}

SpaceId Range::space() const { return read_be64(from_.data()); }

void Range::start_at(std::string_view key) {
  if (key > from_) from_.assign(std::min<std::string_view>(key, to_));
}

void Range::end_before(std::string_view key) {
  if (key < to_) to_.assign(std::max<std::string_view>(key, from_));
}

bool Range::join(const Range& next) {
  CHECK(next.space() == space() && next.from_ >= from_);
  if (next.from_ > to_) return false;
  if (next.to_ > to_) to_ = next.to_;
  return true;
}

}  // namespace kyanite::store
