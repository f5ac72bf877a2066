// The address of a record: space, family, partition, row, encoded into one byte string whose byte
// order is the order of scans. See docs/formats/keys.md.
//
//   space (8 bytes, big endian) | family (1 byte) | partition, escaped, 00 01 | row
//
// In the partition a zero byte is written 00 FF, so "a" sorts before "a\0" and no partition is a
// prefix of another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::store {

// A space is one ordered set of records, named by the incarnation id given at its creation, never
// by a user's name.
using SpaceId = uint64_t;

// A family is one kind of record within a space (heads, content, blocks...). Scans stay within one
// family, so that listing names does not step over content. The letters are the services' own.
using Family = char;

class Key {
 public:
  Key() = default;
  Key(SpaceId space, Family family, std::string_view partition, std::string_view row = {});

  // The bytes as scans return them.
  static Key from_bytes(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  SpaceId space() const;
  Family family() const { return bytes_[8]; }
  std::string partition() const;  // unescaped
  std::string_view row() const;
  // Space and partition together name the unit of atomicity; families of one partition share it.
  bool same_partition(const Key& other) const;

  auto operator<=>(const Key&) const = default;

 private:
  std::string bytes_;
};

// The same of key bytes where a scan shows them, without a Key: writes the partition over
// `partition` and returns the row, a part of `bytes`.
std::string_view split_key(std::string_view bytes, std::string& partition);

// What a scan passes over: records of one space, and but for space() of one family. It can be made
// smaller, and never reaches beyond what it was made of. So whoever holds the space can answer it.
class Range {
 public:
  // All families, one after the other; for whoever removes the space.
  static Range space(SpaceId space);
  static Range family(SpaceId space, Family family);
  // All partitions whose name starts with `prefix`.
  static Range partition_prefix(SpaceId space, Family family, std::string_view prefix);
  // All rows of one partition that start with `row_prefix`.
  static Range rows(SpaceId space, Family family, std::string_view partition,
                    std::string_view row_prefix = {});

  SpaceId space() const;
  // Key bytes: the first that may be in it, and the first that may not be in it any more.
  const std::string& from() const { return from_; }
  const std::string& to() const { return to_; }
  bool empty() const { return from_ >= to_; }
  bool contains(std::string_view key) const { return key >= from_ && key < to_; }

  // Leaves out what is before these key bytes; and from these on.
  void start_at(std::string_view key);
  void end_before(std::string_view key);
  // Becomes both, if they meet. Both are of one family, and this one begins first.
  bool join(const Range& next);

 private:
  explicit Range(std::string prefix);

  std::string from_;
  std::string to_;
};

// The first key after every key that starts with these bytes; empty when there is none.
std::string after_prefix(std::string prefix);
// The start of the first partition after this one, for skipping its remaining rows.
std::string after_partition(SpaceId space, Family family, std::string_view partition);
// The encoded beginning shared by all partitions that start with `prefix`.
std::string partition_prefix_bytes(SpaceId space, Family family, std::string_view prefix);

}  // namespace kyanite::store
