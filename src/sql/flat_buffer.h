// Builds FlatBuffers messages (flatbuffers.dev) from their end to their beginning, as far as
// Arrow's metadata needs them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::sql {

class FlatBuffer {
 public:
  using At = uint32_t;  // A place, as its distance from the end.
  using Pair = std::array<int64_t, 2>;

  At string(std::string_view text);
  At vector(std::span<const At> tables);
  At structs(std::span<const Pair> pairs);  // Two 64-bit integers each.

  // A table: its fields, of which those added first lie last. What it refers to is built before it.
  void begin_table();
  template <class T>
  void field(size_t id, T value) {
    align(sizeof value, 0);
    put(value);
    mark(id);
  }
  void reference(size_t id, At to);
  At end_table();

  // The message, of which `root` is the outermost table.
  std::string finish(At root);

 private:
  At here() const { return static_cast<At>(back_.size()); }
  // Pads so that the place is a multiple of `size` once `extra` bytes more are put.
  void align(size_t size, size_t extra);
  template <class T>
  void put(T value) {
    const auto bits = static_cast<uint64_t>(value);
    for (size_t i = sizeof value; i-- > 0;) back_ += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  void put_reference(At to) { put(here() + 4 - to); }
  void mark(size_t id);

  std::string back_;  // Backwards.
  size_t alignment_ = 4;
  size_t table_start_ = 0;
  std::vector<At> fields_;  // of the table; 0: absent
};

}  // namespace kyanite::sql
