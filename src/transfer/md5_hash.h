// MD5 of bytes on their way. One body's MD5 cannot be split among threads, and takes a processor
// less than half of what it could do, since every step waits for the one before. Several bodies at
// once take little longer than one.
#pragma once

#include <openssl/md5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kyanite::transfer {

class Md5Hash {
 public:
  Md5Hash();

  void update(std::string_view bytes);
  // update() of several that are not the same: kMostAtOnce at most. Fastest with as many bytes
  // each.
  struct Update {
    Md5Hash* hash;
    std::string_view bytes;
  };
  static constexpr size_t kMostAtOnce = 4;
  enum class Instructions : uint8_t { kUsual, kAvx512 };
  static bool has(Instructions instructions);
  // Nothing: by what is fastest here for as many, which is measured once.
  static void update_all(std::span<const Update> updates, std::optional<Instructions> by = {});
  std::string finish();  // 16 bytes. Once, at the end.

 private:
  void update_by_openssl(std::string_view bytes);
  // How many bytes are missing to a whole block.
  size_t missing() const { return state_.num == 0 ? 0 : MD5_CBLOCK - state_.num; }
  static Instructions best(size_t bodies);
  static Instructions measure(size_t bodies);
  // The same number of whole blocks of each.
  static void hash_blocks(std::span<const Update> updates, size_t blocks, Instructions by);
  template <class Bodies>
  static void hash_lanes(std::span<const Update> updates, size_t blocks);
  void add_length(size_t bytes);

  MD5_CTX state_;
};

}  // namespace kyanite::transfer
