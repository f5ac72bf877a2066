// NEGOTIATE: the dialect of the connection and, in 3.1.1, its algorithms.
#include <algorithm>
#include <array>

#include "base/random.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/negotiation.h"
#include "smb/negotiate.h"
#include "smb/times.h"

namespace kyanite::drive {

using smb::Dialect;

namespace {
constexpr size_t kSaltBytes = 32;

// The first of ours that the client has too.
template <class Id, size_t kCount>
std::optional<Id> choose(const std::array<Id, kCount>& ours, const std::vector<Id>& theirs) {
  for (const Id id : ours) {
    if (std::find(theirs.begin(), theirs.end(), id) != theirs.end()) return id;
  }
  return {};
}

// By speed: GCM is twice as fast as CCM, GMAC many times as fast as CMAC.
constexpr std::array kCiphers = {smb::CipherId::kGcm128, smb::CipherId::kGcm256,
                                 smb::CipherId::kCcm128, smb::CipherId::kCcm256};
constexpr std::array kSignings = {smb::SigningId::kGmac, smb::SigningId::kHmacSha256,
                                  smb::SigningId::kCmac};

// What 3.1.1 agrees on in contexts.
smb::NegotiateContexts answer_contexts(const smb::NegotiateContexts& asked, bool may_encrypt,
                                       Agreement& agreement, std::string_view salt) {
  smb::NegotiateContexts answer;
  answer.preauth.emplace();
  answer.preauth->hashes = {smb::PreauthHashId::kSha512};
  answer.preauth->salt = salt;
  if (asked.ciphers) {
    if (may_encrypt)
      agreement.cipher = choose(kCiphers, asked.ciphers->ids).value_or(smb::CipherId::kNone);
    answer.ciphers.emplace().ids = {agreement.cipher};
  }
  agreement.signing = smb::SigningId::kCmac;
  if (asked.signing) {
    if (const auto chosen = choose(kSignings, asked.signing->ids)) {
      agreement.signing = *chosen;
      answer.signing.emplace().ids = {*chosen};
    }
  }
  return answer;
}

bool has_sha512(const smb::NegotiateContexts& contexts) {
  const auto& hashes = contexts.preauth->hashes;
  return std::find(hashes.begin(), hashes.end(), smb::PreauthHashId::kSha512) != hashes.end();
}
}  // namespace

Dialect choose_dialect(const std::vector<Dialect>& offered) {
  constexpr std::array kDialects = {Dialect::kSmb311, Dialect::kSmb302, Dialect::kSmb300,
                                    Dialect::kSmb210};
  return choose(kDialects, offered).value_or(Dialect::kNone);
}

Task<Reply> negotiate(Exchange& exchange) {
  Connection& connection = exchange.connection;
  if (connection.agreement) {
    exchange.drop("a second NEGOTIATE");
    co_return refuse(exchange, smb::Status::kInvalidParameter);
  }
  const auto request = smb::decode<smb::NegotiateRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  Agreement agreement;
  agreement.dialect = choose_dialect(request->dialects);
  if (agreement.dialect == Dialect::kNone) co_return refuse(exchange, smb::Status::kNotSupported);
  agreement.client = request->client;
  agreement.client_capabilities = request->capabilities;
  agreement.client_security_mode = request->security_mode;
  agreement.security_mode =
      smb::security_mode::kSigningEnabled | smb::security_mode::kSigningRequired;
  agreement.capabilities = smb::capability::kLeasing | smb::capability::kLargeMtu;
  if (agreement.dialect != Dialect::kSmb210)
    agreement.capabilities |= smb::capability::kMultiChannel;

  Drive& drive = connection.drive();
  // A client that means to encrypt learns here that it cannot, when nobody can.
  const bool may_encrypt = drive.shares.may_encrypt();
  smb::NegotiateReply body;
  const std::string salt = random_bytes(kSaltBytes);
  if (agreement.dialect == Dialect::kSmb311) {
    if (!has_sha512(request->contexts))
      co_return refuse(exchange, smb::Status::kNoPreauthIntegrityHashOverlap);
    body.contexts = answer_contexts(request->contexts, may_encrypt, agreement, salt);
  } else if (agreement.dialect != Dialect::kSmb210) {
    agreement.signing = smb::SigningId::kCmac;
    if (may_encrypt && (request->capabilities & smb::capability::kEncryption) != 0) {
      agreement.cipher = smb::CipherId::kCcm128;
      agreement.capabilities |= smb::capability::kEncryption;
    }
  }
  body.security_mode = agreement.security_mode;
  body.dialect = agreement.dialect;
  body.server = drive.guid;
  body.capabilities = agreement.capabilities;
  body.max_transact = body.max_read = body.max_write = kMaxTransferBytes;
  body.system_time = smb::to_file_time(drive.clock.now());
  body.token = drive.logon_hint;
  connection.agreement = agreement;
  connection.preauth.add(exchange.message);
  Reply made = reply(exchange, body);
  made.preauth = &connection.preauth;
  co_return made;
}

}  // namespace kyanite::drive
