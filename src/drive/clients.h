// By which connections each client is reached that has logged on: for what no request asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "drive/channel.h"
#include "drive/mailbox.h"
#include "smb/fields.h"

namespace kyanite::drive {

// What a client, or a program of one, is known by: the account and what it calls itself. Whoever
// has logged on may call itself as it likes, so that alone says nothing.
smb::Guid name_within(std::string_view account, const smb::Guid& itself);

// A connection of a client, by one of the sessions that it serves.
struct Contact {
  std::shared_ptr<Mailbox> connection;
  uint64_t session = 0;
  std::shared_ptr<Channel> sealed_by;  // Null: what is said there is not encrypted.
};

// By their names. Thread-safe.
class Clients {
 public:
  void add(const smb::Guid& client, Contact contact) {
    MutexLock lock(mutex_);
    contacts_[client].push_back(std::move(contact));
  }
  // A session has ended; with a connection: it is not served there any more.
  void remove(const smb::Guid& client, uint64_t session, const Mailbox* connection = nullptr) {
    MutexLock lock(mutex_);
    const auto found = contacts_.find(client);
    if (found == contacts_.end()) return;
    std::erase_if(found->second, [&](const Contact& each) {
      return each.session == session &&
             (connection == nullptr || each.connection.get() == connection);
    });
    if (found->second.empty()) contacts_.erase(found);
  }
  // Those of a client, or of one of its sessions, in the order in which they came.
  std::vector<Contact> of(const smb::Guid& client, std::optional<uint64_t> session) const {
    std::vector<Contact> those;
    MutexLock lock(mutex_);
    const auto found = contacts_.find(client);
    if (found == contacts_.end()) return those;
    for (const Contact& each : found->second) {
      if (!session || each.session == *session) those.push_back(each);
    }
    return those;
  }

 private:
  mutable Mutex mutex_;
  std::map<smb::Guid, std::vector<Contact>> contacts_ GUARDED_BY(mutex_);
};

}  // namespace kyanite::drive
