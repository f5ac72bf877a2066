// Who has logged on to a connection, what they sign and encrypt with, which shares they have
// connected and which files they have open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "auth/spnego.h"
#include "drive/open.h"
#include "drive/shares.h"
#include "smb/create.h"
#include "smb/keys.h"
#include "smb/sealing.h"
#include "smb/signing.h"

namespace kyanite::drive {

// A share, or IPC$, as a session has connected it. Lives as long as a request or an open needs it.
struct TreeConnect {
  uint32_t id = 0;
  bool pipes = false;  // IPC$, of which there is no share. It has no pipes either.
  Share share;
  uint32_t maximal_access = 0;
};

// Used on its connection's loop, but for the cryptography: the incoming half belongs to whoever
// receives, the outgoing half to whoever sends, each for one frame at a time on any thread.
class Session {
 public:
  Session(uint64_t id, const smb::PreauthHash& so_far) : preauth(so_far), id_(id) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  uint64_t id() const { return id_; }
  bool established() const { return !account_.empty(); }
  // In lower case; empty until the session is established.
  const std::string& account() const { return account_; }
  // Requests that are not encrypted are refused.
  bool must_encrypt() const { return must_encrypt_; }

  // Once, with what authentication agreed on.
  struct Terms {
    smb::Dialect dialect = smb::Dialect::kNone;
    smb::SigningId signing = smb::SigningId::kHmacSha256;
    smb::CipherId cipher = smb::CipherId::kNone;  // kNone: never encrypted.
    bool must_encrypt = false;
  };
  void establish(const auth::ntlm::Session& logon, const Terms& terms);

  // The incoming half; nothing until the session is established, or where there is no cipher.
  std::optional<smb::Signer> verifier;
  std::optional<smb::Opener> opener;
  // The outgoing half.
  std::optional<smb::Signer> signer;
  std::optional<smb::Sealer> sealer;

  // The logon under way: the first one, or a further one of an established session.
  std::unique_ptr<auth::LogonAcceptor> logon;
  smb::PreauthHash preauth;

  // Null when there are too many. Ids count up: none comes twice.
  std::shared_ptr<TreeConnect> add_tree(TreeConnect tree);
  std::shared_ptr<TreeConnect> find_tree(uint32_t id) const;

  // False when there are too many. Its volatile id is set here; its persistent id is the caller's.
  bool add_open(const std::shared_ptr<Open>& open);
  // Null unless both parts of the id are right.
  std::shared_ptr<Open> find_open(const smb::FileId& id) const;
  // The same, and it is none of this session's any more.
  std::shared_ptr<Open> take_open(const smb::FileId& id);

  std::unordered_map<uint32_t, std::shared_ptr<TreeConnect>>& trees() { return trees_; }
  // By volatile id.
  std::unordered_map<uint64_t, std::shared_ptr<Open>>& opens() { return opens_; }

 private:
  const uint64_t id_;
  std::string account_;
  bool must_encrypt_ = false;
  uint32_t last_tree_ = 0;
  uint64_t last_open_ = 0;
  std::unordered_map<uint32_t, std::shared_ptr<TreeConnect>> trees_;
  std::unordered_map<uint64_t, std::shared_ptr<Open>> opens_;
};

}  // namespace kyanite::drive
