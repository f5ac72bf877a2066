// The sessions of all connections by their ids, which are unique in the server: a client that comes
// back on a new connection names the session it had.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "drive/mailbox.h"

namespace kyanite::drive {

// Thread-safe.
class Sessions {
 public:
  // A new id for a session of the connection behind the mailbox. Nobody can guess it.
  uint64_t add(std::shared_ptr<Mailbox> home);
  void remove(uint64_t id);
  // It is this account's from now on.
  void establish(uint64_t id, std::string account);

  // Where the established session lives, if it is of this account; else null.
  std::shared_ptr<Mailbox> find(uint64_t id, std::string_view account) const;

  size_t established() const;

 private:
  struct Entry {
    std::shared_ptr<Mailbox> home;
    std::string account;
  };
  mutable Mutex mutex_;
  std::unordered_map<uint64_t, Entry> sessions_ GUARDED_BY(mutex_);
  size_t established_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kyanite::drive
