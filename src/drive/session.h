// Who has logged on to a connection, what they sign and encrypt with, which shares they have
// connected and which files they have open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "auth/spnego.h"
#include "drive/channel.h"
#include "drive/open.h"
#include "drive/places.h"
#include "drive/sessions.h"
#include "drive/shares.h"
#include "smb/create.h"
#include "smb/keys.h"

namespace kyanite::drive {

// A share, or IPC$, as a session has connected it. Lives as long as a request or an open needs it.
struct TreeConnect {
  uint32_t id = 0;
  bool pipes = false;  // IPC$, of which there is no share. It has no pipes either.
  Share share;
  uint32_t maximal_access = 0;
  uint64_t there_at = 0;  // The share was there after so many deletions (OpenFiles).
  size_t opens = 0;       // of the session, in this tree
  Places::Place place;    // among all, until the session has it no more
};

// A further connection of a session.
struct FurtherChannel {
  std::shared_ptr<Mailbox> connection;
  std::shared_ptr<Channel> channel;
};

// Used on the loop of its home, the connection on which it was made, wherever requests come from.
class Session {
 public:
  Session(uint64_t id, const smb::PreauthHash& so_far) : preauth(so_far), id_(id) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  uint64_t id() const { return id_; }
  bool established() const { return !account_.empty(); }
  // In lower case; empty until the session is established.
  const std::string& account() const { return account_; }
  // Of the account and what its client calls itself: others may say that they are called the same.
  const smb::Guid& client() const { return client_; }
  // Requests that are not encrypted are refused.
  bool must_encrypt() const { return must_encrypt_; }

  // Whether the account still has the key that this logged on with. Looks only when accounts have
  // changed since it looked last.
  bool has_its_key(const Shares& shares);
  // Somebody has logged on to it anew, with this key.
  void renew(uint64_t key_serial);

  // Once, with what authentication agreed on. Returns what further connections need to know.
  Bond establish(const auth::ntlm::Session& logon, const Terms& terms, const smb::Guid& client,
                 Places::Place place);

  // On its home; null until the session is established.
  std::shared_ptr<Channel> channel;
  std::vector<FurtherChannel> further;

  // The logon under way: the first one, or a further one of an established session.
  std::unique_ptr<auth::LogonAcceptor> logon;
  smb::PreauthHash preauth;

  // Nothing is added any more: whoever was about to add something finds that there is no room.
  void end() {
    ended_ = true;
    place_ = {};
  }
  bool ended() const { return ended_; }

  // Null when there are too many. Ids count up: none comes twice.
  std::shared_ptr<TreeConnect> add_tree(TreeConnect tree);
  std::shared_ptr<TreeConnect> find_tree(uint32_t id) const;
  size_t trees() const { return trees_.size(); }
  // The session has it no more, and it has no place any more. False if that was so before.
  bool end_tree(TreeConnect& tree);
  // All. Returns how many.
  size_t end_trees();

  // False when there are too many. Its volatile id is set here; its persistent id is the caller's,
  // and that of its handle.
  bool add_open(const std::shared_ptr<Open>& open);
  // Null unless both parts of the id are right.
  std::shared_ptr<Open> find_open(const smb::FileId& id) const;
  // The one with this persistent id, which is not 0; null when another session has it.
  std::shared_ptr<Open> find_by_handle(tree::HandleId handle) const;
  void remove_open(const Open& open);
  bool has_opens() const { return !opens_.empty(); }
  // Those of a tree, or all (null), which the session has no more.
  std::vector<std::shared_ptr<Open>> take_opens(const TreeConnect* of);

 private:
  const uint64_t id_;
  std::string account_;
  Places::Place place_;  // among all
  uint64_t key_serial_ = 0;
  uint64_t generation_ = 0;  // Of the accounts in which its key was seen. 0: in none yet.
  smb::Guid client_{};
  bool must_encrypt_ = false;
  bool ended_ = false;
  uint32_t last_tree_ = 0;
  uint64_t last_open_ = 0;
  std::unordered_map<uint32_t, std::shared_ptr<TreeConnect>> trees_;
  std::unordered_map<uint64_t, std::shared_ptr<Open>> opens_;  // By volatile id.
  std::unordered_map<tree::HandleId, uint64_t> volatile_ids_;  // By handle.
};

}  // namespace kyanite::drive
