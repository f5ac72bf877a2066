// Requests signed with an account key: "Authorization: SharedKey account:signature" and
// SharedKeyLite.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/account.h"
#include "auth/caller.h"
#include "auth/target.h"
#include "base/clock.h"
#include "http/message.h"
#include "wire/error.h"
#include "wire/query.h"

namespace kyanite::auth {

struct SharedKeyCredential {
  bool lite = false;
  std::string_view account;
  std::string_view signature;  // base64

  // Nothing when the header has another scheme or shape.
  static std::optional<SharedKeyCredential> parse(std::string_view authorization);
};

// What clients are known to do other than the specification says. The service accepts any of these,
// so do we.
struct Dialect {
  bool sdk_header_order =
      false;  // The JavaScript SDK's order of x-ms- headers, which is not the byte order.
  bool fold_blanks = false;      // Runs of blanks inside header values count as one space.
  bool language_first = false;   // Content-Language before Content-Encoding.
  bool plain_secondary = false;  // "-secondary" left out of the path of path-style addresses.
  bool empty_length = false;     // 0 left unsigned though no version is named, as in batches.
};

// How much is hashed in search of the dialect of one request, beyond what every request costs.
// Texts of usual length are tried in every dialect, the longest in the likeliest only.
inline constexpr size_t kMaxGuessedBytes = 64 * 1024;

// Replaces `out` by the string a client signs. Exposed for tests and for the error detail.
void string_to_sign(const http::Request& request, const wire::Query& query, const Target& target,
                    bool lite, Dialect dialect, std::string& out);

// Whether the owner of the account has signed it, or why the signature does not count.
wire::Result<void> verify_shared_key(const SharedKeyCredential& credential,
                                     const http::Request& request, const wire::Query& query,
                                     const Target& target, const Account& account, Time now);

}  // namespace kyanite::auth
