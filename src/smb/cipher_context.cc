#include "smb/cipher_context.h"

#include <openssl/evp.h>

namespace kyanite::smb {

void FreeCipherContext::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);
}

}  // namespace kyanite::smb
