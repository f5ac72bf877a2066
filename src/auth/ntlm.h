// The server's side of NTLM, second version only: bytes in, bytes out, and a verdict. A user is an
// account, whatever the domain; a password is one of the account's keys as base64 text. Nobody
// comes in as a guest, without a name, or by LM or NTLMv1.
//
// Account names are lower-case letters and digits. Names are compared without regard to the case of
// ASCII letters, as clients put them in upper case themselves; a name with any other character is
// an unknown user. What an unknown user costs is what a wrong password costs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/account.h"
#include "auth/ntlm_keys.h"
#include "auth/ntlm_message.h"
#include "auth/refusal.h"
#include "base/clock.h"
#include "base/result.h"

namespace kyanite::auth::ntlm {

struct Password {
  std::string text;         // ASCII
  uint64_t key_serial = 0;  // of the account's key that it is
};
// The passwords by any of which the user may come in: at most kMaxPasswords, none if there is no
// such user. `user` is in lower case.
using Passwords = std::function<std::vector<Password>(std::string_view user)>;
inline constexpr size_t kMaxPasswords = 2;
// The keys of an account as base64 text; none if there is no such account.
std::vector<Password> account_passwords(const Accounts& accounts, std::string_view account);

// What all logons of a server share. Outlives them.
struct Settings {
  Names names;
  Passwords passwords;
  std::function<std::string(size_t)>
      random;  // as many unpredictable bytes; challenges are made of them
  const Clock* clock = nullptr;
};

// Who came in.
struct Session {
  std::string user;         // the account, in lower case
  std::string domain;       // as shown(), for the log
  std::string workstation;  // likewise
  Key key{};                // the exported session key: sign and seal with what is derived from it
  uint32_t flags = 0;       // what both sides want
  uint64_t key_serial = 0;  // of the password that was proved
};

// UTF-16 from a peer as printable ASCII for the log: other characters become '?', and what is too
// long is cut.
std::string shown(std::string_view utf16);
inline constexpr size_t kMaxShown = 64;

// Holds an AUTHENTICATE message against the two messages before it; `challenge` is our own.
Result<Session, Refusal> verify(std::string_view negotiate, std::string_view challenge,
                                std::string_view authenticate, const Passwords& passwords);

// The first signature of this side of a session, over `text`.
inline std::string signature(Side side, const Session& session, std::string_view text) {
  return signature(side, session.key, session.flags, text);
}

// One logon. Keeps at most kMaxNegotiateBytes and a challenge of a few hundred.
class Acceptor {
 public:
  explicit Acceptor(const Settings& settings) : settings_(settings) {}

  // Takes the client's first message; what is to be sent is the challenge.
  Result<std::string, Refusal> challenge(std::string_view negotiate);
  bool challenged() const { return !challenge_.empty(); }
  // Takes the client's second message, after the first and only once.
  Result<Session, Refusal> finish(std::string_view authenticate);

 private:
  const Settings& settings_;
  std::string negotiate_;
  std::string challenge_;
  bool finished_ = false;
};

}  // namespace kyanite::auth::ntlm
