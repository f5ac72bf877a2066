#include "drive/cache_holder.h"

#include <string>
#include <utility>

#include "drive/connection.h"
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

void CacheHolder::caching_breaks(const tree::CacheBreak& broken) {
  mailbox_->post([self = shared_from_this(), broken](Connection* connection) {
    if (connection == nullptr) return;
    if (self->opened_) {
      self->send(*connection, broken);
    } else {
      self->early_.push_back(broken);
    }
  });
}

void CacheHolder::opened(const smb::FileId& id, bool counts_epochs) {
  id_ = id;
  counts_epochs_ = counts_epochs;
  // Behind the reply.
  mailbox_->post([self = shared_from_this()](Connection* connection) {
    self->opened_ = true;
    for (const auto& broken : std::exchange(self->early_, {})) {
      if (connection != nullptr) self->send(*connection, broken);
    }
  });
}

void CacheHolder::send(Connection& connection, const tree::CacheBreak& broken) const {
  smb::Header header;
  header.command = smb::Command::kOplockBreak;
  header.flags = smb::header_flag::kReply;
  header.message_id = UINT64_MAX;
  const auto session = connection.find_session(session_);
  if (broken.lease) {
    smb::LeaseBreakNotification body;
    body.new_epoch = counts_epochs_ ? broken.epoch : uint16_t{0};
    body.flags = broken.acknowledge ? smb::lease_flag::kAckRequired : 0;
    body.key = broken.lease->key;
    body.current_state = broken.from.bits();
    body.new_state = broken.to.bits();
    connection.notify(session, smb::encode(header, body));
    return;
  }
  header.session_id = session_;
  smb::OplockBreak body;
  body.level = oplock_level(broken.to);
  body.file = id_;
  connection.notify(session, smb::encode(header, body));
}

}  // namespace kyanite::drive
