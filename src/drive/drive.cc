#include "drive/drive.h"

#include <algorithm>

#include "auth/spnego.h"
#include "base/random.h"
#include "drive/connection.h"

namespace kyanite::drive {

namespace {
smb::Guid random_guid() {
  smb::Guid guid{};
  const std::string bytes = random_bytes(guid.size());
  std::copy(bytes.begin(), bytes.end(), guid.begin());
  return guid;
}

auth::ntlm::Settings logon_settings(const Shares& shares, const Clock& clock) {
  auth::ntlm::Settings settings;
  settings.names = {"KYANITE", "KYANITE", "kyanite", ""};
  settings.passwords = [&shares](std::string_view user) { return shares.passwords(user); };
  settings.random = random_bytes;
  settings.clock = &clock;
  return settings;
}
}  // namespace

Drive::Drive(store::Store& records, store::KeyedLocks& turns, Workers& cpu, const Clock& time,
             Shares& where)
    : store(records),
      locks(turns),
      workers(cpu),
      clock(time),
      shares(where),
      guid(random_guid()),
      logon(logon_settings(where, time)),
      logon_hint(auth::logon_hint()) {}

void Drive::accounts_changed() {
  for (const auto& home : sessions.homes()) {
    home->post([](Connection* connection) {
      if (connection != nullptr) connection->end_without_key();
    });
  }
}

}  // namespace kyanite::drive
