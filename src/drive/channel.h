// What a session signs and encrypts with on one connection. All channels of a session encrypt with
// its keys; each signs with a key of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "smb/keys.h"
#include "smb/sealing.h"
#include "smb/signing.h"

namespace kyanite::drive {

// The incoming half belongs to whoever receives, the outgoing half to whoever sends, each for one
// frame at a time on any thread.
struct Channel {
  Channel(uint64_t session, smb::SigningId algorithm, const smb::SecretKey& key)
      : session_id(session), verifier(algorithm, key), signer(algorithm, key) {}

  // No two channels of a session have the same number.
  void encrypt(smb::CipherId cipher, const smb::SessionKeys& keys, uint16_t number) {
    opener.emplace(cipher, keys.client_to_server);
    sealer.emplace(cipher, keys.server_to_client, session_id, number);
  }

  const uint64_t session_id;

  smb::Signer verifier;
  std::optional<smb::Opener> opener;  // Nothing where the session is never encrypted.

  smb::Signer signer;
  std::optional<smb::Sealer> sealer;  // likewise
};

}  // namespace kyanite::drive
