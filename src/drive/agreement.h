// What NEGOTIATE agreed on, of one connection.
#pragma once

#include <cstdint>

#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::drive {

struct Agreement {
  smb::Dialect dialect = smb::Dialect::kNone;
  smb::SigningId signing = smb::SigningId::kHmacSha256;
  smb::CipherId cipher = smb::CipherId::kNone;
  smb::Guid client{};
  uint32_t client_capabilities = 0;
  uint16_t client_security_mode = 0;
  uint32_t capabilities = 0;   // Of the server, as it told.
  uint16_t security_mode = 0;  // likewise
};

}  // namespace kyanite::drive
