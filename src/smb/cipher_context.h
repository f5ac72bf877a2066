// A cipher of OpenSSL that is set up once and used for many messages.
#pragma once

#include <memory>

struct evp_cipher_ctx_st;

namespace kyanite::smb {

struct FreeCipherContext {
  void operator()(evp_cipher_ctx_st* context) const;
};
using CipherContext = std::unique_ptr<evp_cipher_ctx_st, FreeCipherContext>;

}  // namespace kyanite::smb
