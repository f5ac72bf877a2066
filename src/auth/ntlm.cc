#include "auth/ntlm.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "auth/rc4.h"
#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::auth::ntlm {

namespace {
// Held against the response where a user has fewer passwords than others. As long as a key of 64
// bytes in base64, which is what accounts have. It matches nothing, whatever a client proves.
constexpr std::string_view kNoPassword =
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

// The user in lower case, or nothing that is an account's name.
std::string account_name(std::string_view utf16) {
  std::string name;
  for (size_t i = 0; i < utf16.size(); i += 2) {
    if (utf16[i + 1] != 0 || utf16[i] <= ' ' || utf16[i] > '~') return {};
    name += utf16[i];
  }
  return ascii_lower(name);
}

struct Match {
  bool found = false;
  Key base{};
  uint64_t key_serial = 0;
};

// All passwords are tried, and always as many, so that time tells nothing.
Match match(const Authenticate& message, std::string_view challenge,
            std::span<const Password> candidates) {
  CHECK(candidates.size() <= kMaxPasswords);
  Match match;
  for (size_t i = 0; i < kMaxPasswords; ++i) {
    const bool real = i < candidates.size() && !candidates[i].text.empty();
    const std::string_view password = real ? std::string_view(candidates[i].text) : kNoPassword;
    Key user_key = response_key(password, message.user, message.domain);
    const Key proof = proof_of(user_key, challenge, message.blob);
    const Key base = base_key(user_key, proof);
    const bool equal = equals_constant_time(view(proof), message.proof);
    if (equal && real) match = {true, base, candidates[i].key_serial};
    OPENSSL_cleanse(user_key.data(), user_key.size());
  }
  return match;
}
}  // namespace

std::vector<Password> account_passwords(const Accounts& accounts, std::string_view account) {
  std::vector<Password> passwords;
  const auto found = accounts.find(account);
  if (found == nullptr) return passwords;
  for (const auto& key : found->keys) passwords.push_back({base64(key.bytes()), key.serial()});
  return passwords;
}

std::string shown(std::string_view utf16) {
  std::string out;
  for (size_t i = 0; i + 1 < utf16.size() && out.size() < kMaxShown; i += 2) {
    const bool printable = utf16[i + 1] == 0 && utf16[i] >= ' ' && utf16[i] <= '~';
    out += printable ? utf16[i] : '?';
  }
  return out;
}

Result<Session, Refusal> verify(std::string_view negotiate, std::string_view challenge,
                                std::string_view authenticate, const Passwords& passwords) {
  const auto message = parse_authenticate(authenticate);
  if (!message) return message.error();
  Session session;
  session.flags = message->flags & offered_flags(challenge);
  const bool exchanged = (session.flags & kKeyExchange) != 0;
  if (exchanged && message->encrypted_key.size() != sizeof(Key)) return Refusal::kMalformed;

  session.user = account_name(message->user);
  const Match found = match(*message, server_challenge(challenge), passwords(session.user));
  if (!found.found || session.user.empty()) return Refusal::kWrongUserOrPassword;

  session.key_serial = found.key_serial;
  session.key = found.base;
  if (exchanged) {
    const std::string key = rc4(view(found.base), message->encrypted_key);
    std::copy(key.begin(), key.end(), session.key.begin());
  }
  if (!message->integrity_code.empty()) {
    constexpr Key kZeros{};
    const Key code = hmac_md5(view(session.key),
                              {negotiate, challenge, authenticate.substr(0, kIntegrityCodeAt),
                               view(kZeros), authenticate.substr(kIntegrityCodeAt + sizeof(Key))});
    if (!equals_constant_time(view(code), message->integrity_code)) {
      return Refusal::kWrongIntegrityCode;
    }
  }
  session.domain = shown(message->domain);
  session.workstation = shown(message->workstation);
  return session;
}

Result<std::string, Refusal> Acceptor::challenge(std::string_view negotiate) {
  if (challenged()) return Refusal::kOutOfOrder;
  const auto flags = parse_negotiate(negotiate);
  if (!flags) return flags.error();
  negotiate_ = negotiate;
  challenge_ = write_challenge(*flags, settings_.names, settings_.random(kChallengeBytes),
                               settings_.clock->now());
  return challenge_;
}

Result<Session, Refusal> Acceptor::finish(std::string_view authenticate) {
  if (!challenged() || finished_) return Refusal::kOutOfOrder;
  finished_ = true;
  return verify(negotiate_, challenge_, authenticate, settings_.passwords);
}

}  // namespace kyanite::auth::ntlm
