// What all connections of the SMB server share. Lives as long as the server.
#pragma once

#include <string>

#include "auth/ntlm.h"
#include "base/clock.h"
#include "base/executor.h"
#include "drive/app_instances.h"
#include "drive/clients.h"
#include "drive/limits.h"
#include "drive/logon_brake.h"
#include "drive/metrics.h"
#include "drive/named_creates.h"
#include "drive/places.h"
#include "drive/sessions.h"
#include "drive/shares.h"
#include "smb/fields.h"
#include "store/locks.h"
#include "store/store.h"

namespace kyanite::drive {

struct Drive {
  Drive(store::Store& records, store::KeyedLocks& turns, Workers& cpu, const Clock& time,
        Shares& where);
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  // Ends the sessions whose key or account is no more. To be called when accounts have changed; on
  // any thread. What such a session asks before it has ended is refused as well.
  void accounts_changed();

  store::Store& store;
  store::KeyedLocks& locks;
  Workers& workers;  // for cryptography of large frames
  const Clock& clock;
  Shares& shares;

  const smb::Guid guid;  // what the server calls itself
  const auth::ntlm::Settings logon;
  const std::string logon_hint;

  Sessions sessions;
  Clients clients;
  LogonBrake brake;
  Metrics metrics;
  NamedCreates creates;
  AppInstances programs;
  store::KeyedLocks listings;  // Of one open, one request at a time.

  Places sessions_of_all{kMaxSessionsOfAll};
  Places trees_of_all{kMaxTreesOfAll};
  Places lonely_homes{kMaxLonelyHomes};

  // For how long what was written may wait to be durable; 0: not at all, a WRITE is answered then.
  int64_t write_behind_ticks = kTicksPerSecond;
};

}  // namespace kyanite::drive
