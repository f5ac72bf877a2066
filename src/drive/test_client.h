// The client's side of SMB without a connection, for tests, fuzzers and the load generator: logs
// on, makes, protects and takes apart messages by the codec's structures, and shows every one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/ntlm_test_client.h"
#include "base/check.h"
#include "smb/keys.h"
#include "smb/requests.h"
#include "smb/sealing.h"
#include "smb/signing.h"

namespace kyanite::drive {

// A message that the server sent.
struct Received {
  smb::Header header;
  std::string bytes;
  bool sealed = false;
  bool signature_right = false;

  smb::Status status() const { return header.status; }
  template <class Body>
  Body body() const {
    auto decoded = smb::decode<Body>(bytes);
    CHECK(decoded);
    return *decoded;
  }
};

// What a client offers in NEGOTIATE, and how it protects what it sends.
struct TestOffer {
  std::vector<smb::Dialect> dialects = {smb::Dialect::kSmb210, smb::Dialect::kSmb300,
                                        smb::Dialect::kSmb302, smb::Dialect::kSmb311};
  std::vector<smb::CipherId> ciphers = {smb::CipherId::kGcm128};
  std::vector<smb::SigningId> signings = {smb::SigningId::kGmac};
  uint32_t capabilities = smb::capability::kEncryption | smb::capability::kLargeMtu;
  uint16_t security_mode = smb::security_mode::kSigningEnabled;
};

class ClientSide {
 public:
  static smb::Guid filled(char with) {
    smb::Guid guid;
    guid.fill(with);
    return guid;
  }
  virtual ~ClientSide() = default;

  // Gives the server a frame and has what it answers at once; nothing when it does not.
  virtual std::vector<Received> converse(std::string_view frame) = 0;

  // The messages of a frame that the server sent.
  std::vector<Received> take_apart(std::string frame) {
    std::string_view plain = frame;
    const bool was_sealed = smb::kind_of(frame) == smb::FrameKind::kSealed;
    if (was_sealed) {
      CHECK(opener);
      const auto opened = opener->open({frame.data(), frame.size()});
      CHECK(opened);
      plain = *opened;
    }
    const auto messages = smb::split_chain(plain);
    CHECK(messages);
    std::vector<Received> received;
    for (const smb::Message& message : *messages) {
      Received& one = received.emplace_back();
      one.header = message.header;
      one.bytes = message.bytes;
      one.sealed = was_sealed;
      one.signature_right = !was_sealed && signer && signer->verify(message.bytes);
    }
    return received;
  }

  // --- messages ---

  smb::Header next_header(smb::Command command) {
    smb::Header header;
    header.command = command;
    header.message_id = next_id;
    header.credit_charge = charge;
    header.credits = asked_credits;
    header.session_id = session_id;
    header.tree_id = tree_id;
    if (command != smb::Command::kCancel) next_id += charge;
    return header;
  }
  template <class Body>
  std::string message(smb::Command command, const Body& body, uint32_t flags = 0) {
    smb::Header header = next_header(command);
    header.flags = flags;
    return smb::encode(header, body);
  }
  // As a frame: a chain, each signed, or all encrypted, as the client is set.
  std::string protect(std::vector<std::string> messages) {
    smb::link_chain(messages);
    if (sealed) {
      std::vector<std::string_view> views(messages.begin(), messages.end());
      size_t plain = 0;
      for (const auto view : views) plain += view.size();
      std::string frame(plain + smb::kTransformBytes, '\0');
      sealer->seal(plain, smb::one_by_one(views), frame.data());
      return frame;
    }
    std::string frame;
    for (std::string& each : messages) {
      if (signs && signer) signer->sign(each);
      frame += each;
    }
    return frame;
  }
  // Asks and has the one answer; nothing when there is none at once.
  template <class Body>
  std::optional<Received> ask(smb::Command command, const Body& body) {
    auto answer = converse(protect({message(command, body)}));
    if (answer.size() != 1) return {};
    return std::move(answer[0]);
  }

  // --- logging on ---

  std::optional<Received> negotiate(const TestOffer& offer = {}) {
    smb::NegotiateRequest request;
    request.dialects = offer.dialects;
    request.capabilities = offer.capabilities;
    request.security_mode = offer.security_mode;
    request.client = guid;
    if (request.offers(smb::Dialect::kSmb311)) {
      request.contexts.preauth.emplace().hashes = {smb::PreauthHashId::kSha512};
      request.contexts.preauth->salt = "salt";
      if (!offer.ciphers.empty()) request.contexts.ciphers.emplace().ids = offer.ciphers;
      if (!offer.signings.empty()) request.contexts.signing.emplace().ids = offer.signings;
    }
    const std::string asked = message(smb::Command::kNegotiate, request);
    auto answer = converse(asked);
    if (answer.size() != 1) return {};
    if (answer[0].status() == smb::Status::kSuccess) learn(asked, answer[0]);
    return std::move(answer[0]);
  }

  // One SESSION_SETUP.
  std::optional<Received> set_up(std::string_view token, uint8_t flags = 0, uint64_t previous = 0) {
    smb::SessionSetupRequest request;
    request.flags = flags;
    request.security_mode = smb::security_mode::kSigningEnabled;
    request.previous_session = previous;
    request.token = token;
    const std::string asked = protect({message(smb::Command::kSessionSetup, request)});
    preauth.add(asked);
    auto answer = converse(asked);
    if (answer.size() != 1) return {};
    if (answer[0].status() == smb::Status::kMoreProcessingRequired) {
      preauth.add(answer[0].bytes);
      session_id = answer[0].header.session_id;
    }
    return std::move(answer[0]);
  }

  // Both steps of a logon: the last answer.
  std::optional<Received> log_on(uint64_t previous = 0) {
    if (!established) {
      preauth = negotiated;
      session_id = 0;
    }
    const auto first = set_up(ntlm.initial_token(ntlm.negotiate()), 0, previous);
    if (!first || first->status() != smb::Status::kMoreProcessingRequired) return first;
    const std::string first_token(first->body<smb::SessionSetupReply>().token);
    auto last = set_up(ntlm.last_token(auth::message_in(first_token)), 0, previous);
    if (!last || last->status() != smb::Status::kSuccess || established) return last;
    establish();
    last->signature_right = signer->verify(last->bytes);
    return last;
  }
  // Logs on as a further connection of the session that `home` has: the last answer.
  std::optional<Received> bind_to(const ClientSide& home) {
    preauth = negotiated;
    session_id = home.session_id;
    signer.emplace(home.signing, home.keys.signing);
    const auto first = set_up(ntlm.initial_token(ntlm.negotiate()), smb::session_flag::kBinding, 0);
    if (!first || first->status() != smb::Status::kMoreProcessingRequired) return first;
    CHECK(first->signature_right);
    const std::string first_token(first->body<smb::SessionSetupReply>().token);
    auto last =
        set_up(ntlm.last_token(auth::message_in(first_token)), smb::session_flag::kBinding, 0);
    if (!last || last->status() != smb::Status::kSuccess) return last;
    const auto own =
        smb::derive_session_keys(dialect, cipher, auth::ntlm::view(ntlm.session_key), preauth);
    signer.emplace(signing, own.signing);
    if (cipher != smb::CipherId::kNone) {
      sealer.emplace(cipher, home.keys.client_to_server, session_id, uint16_t{1});
      opener.emplace(cipher, home.keys.server_to_client);
    }
    established = true;
    tree_id = home.tree_id;
    last->signature_right = signer->verify(last->bytes);
    return last;
  }
  // All of it; CHECKs that it succeeds.
  void come_in(const TestOffer& offer = {}, uint64_t previous = 0) {
    const auto negotiated_reply = negotiate(offer);
    CHECK(negotiated_reply && negotiated_reply->status() == smb::Status::kSuccess);
    const auto last = log_on(previous);
    CHECK(last && last->status() == smb::Status::kSuccess);
    sealed = last->body<smb::SessionSetupReply>().flags == smb::session_flag::kEncryptData;
  }
  std::optional<Received> connect(std::string path) {
    smb::TreeConnectRequest request;
    request.path = std::move(path);
    auto answer = ask(smb::Command::kTreeConnect, request);
    if (answer && answer->status() == smb::Status::kSuccess) tree_id = answer->header.tree_id;
    return answer;
  }

 private:
  void learn(const std::string& asked, const Received& answer) {
    const auto reply = answer.body<smb::NegotiateReply>();
    dialect = reply.dialect;
    negotiated.add(asked);
    negotiated.add(answer.bytes);
    signing =
        dialect == smb::Dialect::kSmb210 ? smb::SigningId::kHmacSha256 : smb::SigningId::kCmac;
    if (reply.contexts.signing) signing = reply.contexts.signing->ids.at(0);
    cipher = smb::CipherId::kNone;
    if (reply.contexts.ciphers) cipher = reply.contexts.ciphers->ids.at(0);
    if ((reply.capabilities & smb::capability::kEncryption) != 0) cipher = smb::CipherId::kCcm128;
  }
  void establish() {
    keys = smb::derive_session_keys(dialect, cipher, auth::ntlm::view(ntlm.session_key), preauth);
    signer.emplace(signing, keys.signing);
    if (cipher != smb::CipherId::kNone) {
      sealer.emplace(cipher, keys.client_to_server, session_id);
      opener.emplace(cipher, keys.server_to_client);
    }
    established = true;
  }

 public:
  auth::NtlmTestClient ntlm;
  smb::Guid guid = filled('c');
  smb::Dialect dialect = smb::Dialect::kNone;
  smb::SigningId signing = smb::SigningId::kHmacSha256;
  smb::CipherId cipher = smb::CipherId::kNone;
  smb::SessionKeys keys;
  smb::PreauthHash negotiated;
  smb::PreauthHash preauth;
  bool established = false;
  bool signs = true;
  bool sealed = false;
  std::optional<smb::Signer> signer;
  std::optional<smb::Sealer> sealer;
  std::optional<smb::Opener> opener;

  uint64_t next_id = 0;
  uint64_t session_id = 0;
  uint32_t tree_id = 0;
  uint16_t charge = 1;
  uint16_t asked_credits = 64;
};

}  // namespace kyanite::drive
