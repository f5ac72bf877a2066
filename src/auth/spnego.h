// The server's side of a logon to SMB: SPNEGO (RFC 4178, MS-SPNG) around NTLM, or NTLM alone where
// the client begins so. Bytes in, bytes out, and a verdict; no sockets, no waiting. NTLM is the
// only mechanism. Whoever refuses a logon again and again should slow it down and log it: that is
// left to the caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "auth/ntlm.h"

namespace kyanite::auth {

// Longer tokens are refused unread. There is room for the ticket of another mechanism, which is
// ignored.
inline constexpr size_t kMaxLogonTokenBytes = 16 * 1024;
// Of the mechanisms that a client offers, which are kept until it is authenticated.
inline constexpr size_t kMaxMechanismListBytes = 512;

// What the server says of itself before a logon, in the answer to NEGOTIATE: that it takes NTLM.
std::string logon_hint();

struct LogonStep {
  enum class Verdict {
    kContinue,  // send the token and wait for the client's next
    kAccepted,  // send the token, which may be empty; the session is there
    kRefused,   // the token may be sent with the refusal
  };
  Verdict verdict = Verdict::kRefused;
  std::string token;
  std::optional<ntlm::Session> session;
  Refusal refusal = Refusal::kMalformed;  // only if refused
};

// One logon, of at most three steps. After a verdict every further token is refused. Keeps less
// than 3 KiB.
class LogonAcceptor {
 public:
  // `settings` outlive this.
  explicit LogonAcceptor(const ntlm::Settings& settings) : ntlm_(settings) {}

  LogonStep step(std::string_view token);

 private:
  enum class State { kBegin, kRaw, kWrapped, kDone };

  Result<LogonStep, Refusal> decide(std::string_view token);
  Result<LogonStep, Refusal> begin(std::string_view token);
  Result<LogonStep, Refusal> raw(std::string_view message);
  Result<LogonStep, Refusal> wrapped(std::string_view token);
  Result<LogonStep, Refusal> challenge(std::string_view negotiate);
  Result<LogonStep, Refusal> finish(std::string_view authenticate, std::string_view code);

  ntlm::Acceptor ntlm_;
  State state_ = State::kBegin;
  std::string mechanisms_;       // as the client listed them, for the code that protects the list
  bool code_required_ = false;   // NTLM was not the client's first choice
  bool mechanism_told_ = false;  // which the first answer does
};

}  // namespace kyanite::auth
