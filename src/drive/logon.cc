#include "drive/logon.h"

#include "base/log.h"
#include "base/peer_network.h"
#include "drive/connection.h"

namespace kyanite::drive {

std::string describe(const auth::ntlm::Session& logon) {
  std::string text = logon.user;
  if (!logon.workstation.empty()) text += " at " + logon.workstation;
  return text;
}

void log_refusal(const Connection& connection, const std::string& whom, std::string_view why) {
  log_warning("SMB logon " + whom + "from " + std::string(connection.peer()) +
              " refused: " + std::string(why));
}

smb::Status status_of(auth::Refusal refusal) {
  switch (refusal) {
    case auth::Refusal::kMalformed:
    case auth::Refusal::kTooLong:
    case auth::Refusal::kOutOfOrder:
      return smb::Status::kInvalidParameter;
    case auth::Refusal::kNoCommonMechanism:
    case auth::Refusal::kBrokenOff:
    case auth::Refusal::kNotUnicode:
    case auth::Refusal::kAnonymous:
    case auth::Refusal::kFirstVersion:
    case auth::Refusal::kWrongUserOrPassword:
    case auth::Refusal::kWrongIntegrityCode:
    case auth::Refusal::kWrongMechanismListCode:
    case auth::Refusal::kNoMechanismListCode:
      return smb::Status::kLogonFailure;
  }
  return smb::Status::kLogonFailure;
}

Result<Terms, std::string_view> terms_of(const Connection& connection, std::string_view account) {
  const AccountRules rules = connection.drive().shares.rules(account);
  const Agreement& agreement = *connection.agreement;
  Terms terms;
  terms.dialect = agreement.dialect;
  terms.signing = agreement.signing;
  terms.cipher = agreement.cipher;
  terms.encrypts = agreement.cipher != smb::CipherId::kNone && rules.encryption != Encryption::kOff;
  terms.must_encrypt = rules.encryption == Encryption::kRequired ||
                       (rules.encryption == Encryption::kOffLoopback && !connection.on_loopback());
  if (agreement.dialect < rules.least_dialect)
    return std::string_view("the account demands a later dialect");
  if (terms.must_encrypt && !terms.encrypts)
    return std::string_view("the account demands encryption");
  return terms;
}

Task<void> slow_down(Connection& connection) {
  Drive& drive = connection.drive();
  const auto delay = drive.brake.failed(peer_network(connection.peer()), drive.clock.moment());
  connection.count_failed_logon();
  if (delay.count() > 0) co_await connection.carrier().sleep(delay);
}

}  // namespace kyanite::drive
