#include "store/key.h"

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

size_t Key::partition_end() const {
  size_t at = kPartitionStart;
  while (true) {
    at = bytes_.find('\0', at);
    CHECK(at != std::string::npos && at + 1 < bytes_.size());
    if (bytes_[at + 1] == '\x01') return at + 2;
    at += 2;
  }
}

std::string Key::partition() const {
  std::string out;
  const size_t end = partition_end() - 2;
  const std::string_view escaped(bytes_.data() + kPartitionStart, end - kPartitionStart);
  if (escaped.find('\0') == std::string_view::npos) return std::string(escaped);
  for (size_t i = kPartitionStart; i < end; ++i) {
    out.push_back(bytes_[i]);
    if (bytes_[i] == '\0') ++i;
  }
  return out;
}

std::string_view Key::row() const { return std::string_view(bytes_).substr(partition_end()); }

bool Key::same_partition(const Key& other) const {
  const std::string_view mine(bytes_.data(), partition_end());
  const std::string_view theirs(other.bytes_.data(), other.partition_end());
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

Range Range::space(SpaceId space) {
  std::string from;
  append_be64(from, space);
  return {from, after_prefix(from)};
}

Range Range::family(SpaceId space, Family family) { return partition_prefix(space, family, {}); }

Range Range::partition_prefix(SpaceId space, Family family, std::string_view prefix) {
  std::string from = partition_prefix_bytes(space, family, prefix);
  std::string to = after_prefix(from);
  return {std::move(from), std::move(to)};
}

Range Range::rows(SpaceId space, Family family, std::string_view partition,
                  std::string_view row_prefix) {
  std::string from = Key(space, family, partition, row_prefix).bytes();
  std::string to = after_prefix(from);
  return {std::move(from), std::move(to)};
}

}  // namespace kyanite::store
