// MD5 of bytes on their way. One body's MD5 cannot be split among threads, and takes a processor
// less than half of what it could do, since every step waits for the one before. Two bodies at once
// take little longer than one.
#pragma once

#include <openssl/md5.h>

#include <string>
#include <string_view>

namespace kyanite::transfer {

class Md5Hash {
 public:
  Md5Hash();

  void update(std::string_view bytes);
  // update() of two that are not the same.
  static void update_both(Md5Hash& one, std::string_view bytes, Md5Hash& other,
                          std::string_view other_bytes);
  std::string finish();  // 16 bytes. Once, at the end.

 private:
  // How many bytes are missing to a whole block.
  size_t missing() const { return state_.num == 0 ? 0 : MD5_CBLOCK - state_.num; }
  void add_length(size_t bytes);

  MD5_CTX state_;
};

}  // namespace kyanite::transfer
