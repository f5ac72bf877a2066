#include "auth/mac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <memory>

#include "base/check.h"

namespace kyanite::auth {

namespace {
struct FreeContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// The algorithm object is fetched once; fetching takes a lock and a search of the providers.
EVP_MAC* hmac() {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  CHECK(algorithm != nullptr);
  return algorithm;
}

Context prepare(std::string_view key) {
  Context context(EVP_MAC_CTX_new(hmac()));
  CHECK(context != nullptr);
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  // A null key would mean "keep the former one": an empty key still needs an address.
  const unsigned char* bytes = key.empty() ? unsigned_bytes("") : unsigned_bytes(key);
  CHECK(EVP_MAC_init(context.get(), bytes, key.size(), parameters) == 1);
  return context;
}

// The most recently prepared keys of one thread. A server has few accounts in use at a time, and a
// miss costs a microsecond, so that a small ring searched linearly does.
class PreparedKeys {
 public:
  // Ready to take text.
  EVP_MAC_CTX* restart(const Key& key) {
    for (auto& slot : slots_) {
      if (slot.context != nullptr && slot.serial == key.serial()) {
        CHECK(EVP_MAC_init(slot.context.get(), nullptr, 0, nullptr) == 1);
        return slot.context.get();
      }
    }
    auto& slot = slots_[next_++ % slots_.size()];
    slot = {key.serial(), prepare(key.bytes())};
    return slot.context.get();
  }

 private:
  struct Slot {
    uint64_t serial = 0;
    Context context;
  };
  std::array<Slot, 8> slots_;
  size_t next_ = 0;
};

void finish(EVP_MAC_CTX* context, std::string_view text, std::array<char, kMacBytes>& out) {
  size_t length = 0;
  CHECK(EVP_MAC_update(context, unsigned_bytes(text), text.size()) == 1);
  CHECK(EVP_MAC_final(context, reinterpret_cast<unsigned char*>(out.data()), &length, out.size()) ==
        1);
  CHECK(length == out.size());
}
}  // namespace

Mac Mac::of(const Key& key, std::string_view text) {
  thread_local PreparedKeys prepared;
  Mac mac;
  finish(prepared.restart(key), text, mac.bytes_);
  return mac;
}

Mac Mac::of(std::string_view key, std::string_view text) {
  Mac mac;
  finish(prepare(key).get(), text, mac.bytes_);
  return mac;
}

}  // namespace kyanite::auth
