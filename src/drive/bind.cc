// Binding a connection to a session that was made on another one, so that a client has several ways
// to it. It logs on once more; what it signs here is signed with a key of this logon, what it
// encrypts with the session's.
#include <utility>

#include "drive/connection.h"
#include "drive/logon.h"

namespace kyanite::drive {

namespace {
// Why a connection cannot be a channel of the session, by what was agreed on with each; kSuccess if
// it can. Signatures by GMAC do not go with others.
smb::Status binding_refusal(const Terms& session, const Agreement& connection) {
  const bool session_gmac = session.signing == smb::SigningId::kGmac;
  const bool here_gmac = connection.signing == smb::SigningId::kGmac;
  if (session_gmac && !here_gmac) return smb::Status::kRequestOutOfSequence;
  if (here_gmac && !session_gmac) return smb::Status::kNotSupported;
  if (connection.dialect < smb::Dialect::kSmb300) return smb::Status::kRequestNotAccepted;
  if (connection.dialect != session.dialect || connection.cipher != session.cipher)
    return smb::Status::kInvalidParameter;
  return smb::Status::kSuccess;
}

// The last step: from now on the connection has a key of its own for the session.
Reply bound(Exchange& exchange, const Bond& bond, const smb::PreauthHash& preauth,
            const auth::LogonStep& step) {
  Connection& connection = exchange.connection;
  const uint64_t id = exchange.header.session_id;
  const auto number = connection.drive().sessions.add_channel(id);
  if (!number) return refuse(exchange, number.error());
  const auto own = smb::derive_session_keys(bond.terms.dialect, bond.terms.cipher,
                                            auth::ntlm::view(step.session->key), preauth);
  auto channel = std::make_shared<Channel>(id, connection.agreement->signing, own.signing);
  if (bond.terms.encrypts) channel->encrypt(bond.terms.cipher, bond.keys, *number);
  connection.bind(channel, bond);
  smb::SessionSetupReply body;
  body.token = step.token;
  if (bond.terms.must_encrypt) body.flags = smb::session_flag::kEncryptData;
  Reply made = reply(exchange, body);
  made.signed_by = std::move(channel);
  return made;
}
}  // namespace

Task<Reply> bind_session(Exchange& exchange, const smb::SessionSetupRequest& request) {
  using smb::Status;
  Connection& connection = exchange.connection;
  const uint64_t id = exchange.header.session_id;
  if (connection.find_session(id) != nullptr)  // It has this one already.
    co_return refuse(exchange, Status::kRequestNotAccepted);
  // It is the connection that asks which is bound, and nobody would unbind one that has ended.
  if (exchange.chain().origin || connection.ending())
    co_return refuse(exchange, Status::kRequestNotAccepted);
  const auto bond = connection.drive().sessions.find(id);
  if (!bond) co_return refuse(exchange, Status::kUserSessionDeleted);
  if (!exchange.header.has(smb::header_flag::kSigned))
    co_return refuse(exchange, Status::kInvalidParameter);
  // Until the connection has a key of its own, the session's protects what is said.
  const auto session_key = std::make_shared<Channel>(id, bond->terms.signing, bond->keys.signing);
  if (!session_key->verifier.verify(exchange.message))
    co_return refuse(exchange, Status::kAccessDenied);
  const auto refuse_signed = [&](Status status) {
    Reply made = refuse(exchange, status);
    made.signed_by = session_key;
    return made;
  };
  const Status refusal = binding_refusal(bond->terms, *connection.agreement);
  if (refusal != Status::kSuccess) co_return refuse_signed(refusal);

  Connection::Binding* binding = connection.find_binding(id);
  if (binding == nullptr) co_return refuse_signed(Status::kInsufficientResources);
  binding->preauth.add(exchange.message);
  auth::LogonStep step = binding->logon.step(request.token);
  if (step.verdict == auth::LogonStep::Verdict::kContinue) {
    smb::SessionSetupReply body;
    body.token = step.token;
    Reply made = reply(exchange, body, Status::kMoreProcessingRequired);
    made.signed_by = session_key;
    made.preauth = &binding->preauth;
    co_return made;
  }
  const smb::PreauthHash preauth = binding->preauth;
  connection.forget_binding(id);
  if (step.verdict == auth::LogonStep::Verdict::kRefused) {
    log_refusal(connection, "", auth::describe(step.refusal));
    co_await slow_down(connection);
    co_return refuse_signed(status_of(step.refusal));
  }
  if (step.session->user != bond->account) {
    log_refusal(connection, "of " + describe(*step.session) + " ",
                "the session is another account's");
    co_await slow_down(connection);
    co_return refuse_signed(Status::kAccessDenied);
  }
  // More may be demanded of who is here than was where the session was made.
  const auto terms = terms_of(connection, bond->account);
  if (!terms || (terms->must_encrypt && !bond->terms.must_encrypt)) {
    log_refusal(connection, "of " + describe(*step.session) + " ",
                terms ? "the session does not encrypt" : terms.error());
    co_return refuse_signed(Status::kAccessDenied);
  }
  Reply made = bound(exchange, *bond, preauth, step);
  if (made.signed_by == nullptr) made.signed_by = session_key;
  co_return made;
}

}  // namespace kyanite::drive
