#include "drive/cache_holder.h"

#include <optional>
#include <string>
#include <utility>

#include "drive/connection.h"
#include "drive/limits.h"
#include "smb/file_io.h"

namespace kyanite::drive {

using concurrency::Caching;

smb::OplockLevel oplock_level(Caching caching) {
  if (caching.has(concurrency::kHandleCaching) && caching.has(concurrency::kWriteCaching))
    return smb::OplockLevel::kBatch;
  if (caching.has(concurrency::kWriteCaching)) return smb::OplockLevel::kExclusive;
  return caching.has(concurrency::kReadCaching) ? smb::OplockLevel::kLevel2
                                                : smb::OplockLevel::kNone;
}

Caching caching_of(smb::OplockLevel level) {
  switch (level) {
    case smb::OplockLevel::kLevel2:
      return concurrency::kReadCaching;
    case smb::OplockLevel::kExclusive:
      return concurrency::kReadWriteCaching;
    case smb::OplockLevel::kBatch:
      return concurrency::kFullCaching;
    default:
      return concurrency::kNoCaching;
  }
}

namespace {
// A client whose machine takes nothing keeps nobody waiting for as long as one that is slow.
void give_up(const std::vector<Contact>& contacts) {
  for (const Contact& each : contacts) {
    each.connection->run([](Connection* connection) {
      if (connection != nullptr && !connection->carrier().all_arrived())
        connection->drop("a break does not arrive");
    });
  }
}
}  // namespace

void CacheHolder::caching_breaks(const tree::CacheBreak& broken) {
  const auto take = [self = shared_from_this(), broken](Connection* connection) {
    if (connection == nullptr) return;
    if (self->opened_) {
      self->tell(*connection, broken);
    } else {
      self->early_.push_back(broken);
    }
  };
  // What comes from elsewhere is taken later, and what follows it after that.
  if (posted_.load() == 0 && mailbox_->is_here()) return mailbox_->run(take);
  ++posted_;
  mailbox_->post([self = shared_from_this(), take](Connection* connection) {
    --self->posted_;
    take(connection);
  });
}

void CacheHolder::opened(const smb::FileId& id, bool counts_epochs) {
  id_ = id;
  counts_epochs_ = counts_epochs;
  // Behind the reply.
  mailbox_->post([self = shared_from_this()](Connection* connection) {
    self->opened_ = true;
    for (const auto& broken : std::exchange(self->early_, {})) {
      if (connection != nullptr) self->tell(*connection, broken);
    }
  });
}

void CacheHolder::tell(const Connection& home, const tree::CacheBreak& broken) const {
  // A lease is the client's, whichever of its sessions has opened the file.
  const auto session = broken.lease ? std::nullopt : std::optional(session_);
  const auto contacts = home.drive().clients.of(client_, session);
  if (broken.reminder >= contacts.size()) {
    if (broken.reminder >= kMaxReminders) give_up(contacts);
    return;
  }
  const Contact& to = contacts[broken.reminder];
  const auto send = [to, message = message_of(broken)](Connection* connection) {
    if (connection != nullptr) connection->notify(to.sealed_by, message);
  };
  if (broken.reminder == 0) return to.connection->run(send);
  // Who has got it takes its time: that is no reason to say it again elsewhere.
  contacts[broken.reminder - 1].connection->run([to, send](Connection* before) {
    if (before == nullptr || !before->carrier().all_arrived()) to.connection->run(send);
  });
}

std::string CacheHolder::message_of(const tree::CacheBreak& broken) const {
  smb::Header header;
  header.command = smb::Command::kOplockBreak;
  header.flags = smb::header_flag::kReply;
  header.message_id = smb::kUnsolicited;
  if (broken.lease) {
    smb::LeaseBreakNotification body;
    body.new_epoch = counts_epochs_ ? broken.epoch : uint16_t{0};
    body.flags = broken.acknowledge ? smb::lease_flag::kAckRequired : 0;
    body.key = broken.lease->key;
    body.current_state = broken.from.bits();
    body.new_state = broken.to.bits();
    return smb::encode(header, body);
  }
  header.session_id = session_;
  smb::OplockBreak body;
  body.level = oplock_level(broken.to);
  body.file = id_;
  return smb::encode(header, body);
}

}  // namespace kyanite::drive
