// Why a logon to the SMB server was refused. For the log: the peer is told nothing but that.
#pragma once

#include <string_view>

namespace kyanite::auth {

enum class Refusal {
  kMalformed,
  kTooLong,
  kOutOfOrder,
  kNoCommonMechanism,
  kBrokenOff,
  kNotUnicode,
  kAnonymous,
  kFirstVersion,
  kWrongUserOrPassword,
  kWrongIntegrityCode,
  kWrongMechanismListCode,
  kNoMechanismListCode,
};

constexpr std::string_view describe(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed:
      return "malformed message";
    case Refusal::kTooLong:
      return "message too long";
    case Refusal::kOutOfOrder:
      return "message out of order";
    case Refusal::kNoCommonMechanism:
      return "client does not offer NTLM";
    case Refusal::kBrokenOff:
      return "client broke off";
    case Refusal::kNotUnicode:
      return "client does not speak Unicode";
    case Refusal::kAnonymous:
      return "anonymous logon";
    case Refusal::kFirstVersion:
      return "response of LM or NTLMv1";
    case Refusal::kWrongUserOrPassword:
      return "wrong user or password";
    case Refusal::kWrongIntegrityCode:
      return "messages were changed on their way";
    case Refusal::kWrongMechanismListCode:
      return "list of mechanisms was changed on its way";
    case Refusal::kNoMechanismListCode:
      return "list of mechanisms is not protected";
  }
  return "";
}

}  // namespace kyanite::auth
