// The sessions of all connections by their ids, which are unique in the server: a client that comes
// back on a new connection names the session it had.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "drive/mailbox.h"
#include "smb/fields.h"
#include "smb/keys.h"
#include "smb/numbers.h"

namespace kyanite::drive {

// What was agreed on with the client of a session.
struct Terms {
  smb::Dialect dialect = smb::Dialect::kNone;
  smb::SigningId signing = smb::SigningId::kHmacSha256;
  smb::CipherId cipher = smb::CipherId::kNone;  // What the connection agreed on;
  bool encrypts = false;                        // the account may not want it.
  bool must_encrypt = false;
};

// What a connection needs to know of a session in order to become a further channel of it.
struct Bond {
  std::string account;
  smb::Guid client{};  // See Session::client().
  Terms terms;
  smb::SessionKeys keys;
  std::shared_ptr<Mailbox> home = nullptr;
};

// Thread-safe.
class Sessions {
 public:
  // A new id for a session of the connection behind the mailbox. It has 32 bits: there are clients
  // that keep no more. Knowing it is of no use without the session's keys.
  uint64_t add(std::shared_ptr<Mailbox> home);
  // The session is over, and nobody but its client finds it (find_previous) until what it had open
  // is closed and it is removed.
  void begin_end(uint64_t id);
  void remove(uint64_t id);
  // Somebody has logged on. Its home is the connection it was added for.
  void establish(uint64_t id, Bond bond);

  // Nothing unless the session is established.
  std::optional<Bond> find(uint64_t id) const;
  // The same for one that is perhaps ending.
  std::optional<Bond> find_previous(uint64_t id) const;

  // A further channel begins: its number, never given twice; or why the session cannot have it.
  Result<uint16_t, smb::Status> add_channel(uint64_t id);
  void remove_channel(uint64_t id);

  size_t established() const;
  // The connections on which somebody has logged on, each once.
  std::vector<std::shared_ptr<Mailbox>> homes() const;

 private:
  struct Entry {
    Bond bond;  // Without an account until it is established.
    bool ending = false;
    size_t channels = 1;  // With the one at home.
    uint16_t last_channel = 0;
  };
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Entry> sessions_ GUARDED_BY(mutex_);
  size_t established_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::drive
