// Which message ids a client may use next. It begins with one credit, pays with each request for as
// much as that moves, and is granted more with each reply. No I/O.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "drive/limits.h"
#include "smb/frame.h"

namespace kyanite::drive {

class Credits {
 public:
  // Uses up `charge` ids from this one on. False, and the connection ends, when one of them was not
  // granted or was used already.
  [[nodiscard]] bool take(uint64_t message_id, uint16_t charge);

  // How many to grant with a reply to a request with this charge that asked for `asked`, which are
  // granted then. As many as it asks for if `generous`, else what it paid; at least one while it
  // has none. An id that is never used holds up all that follow: the window stays kMaxCredits wide.
  uint16_t grant(uint16_t charge, uint16_t asked, bool generous);

 private:
  bool used(uint64_t id) const { return used_[id % kMaxCredits]; }

  uint64_t low_ = 0;               // The first id that was not used.
  uint32_t range_ = 1;             // How many follow that were ever granted, it included.
  uint32_t available_ = 1;         // Of them, those not used.
  std::bitset<kMaxCredits> used_;  // Of the range, by the rest of dividing the id.
};

// The charge of a request, where 0 stands for 1.
inline uint16_t charge_of(const smb::Header& header) {
  return header.credit_charge == 0 ? uint16_t{1} : header.credit_charge;
}

// The most bytes that the request brings or fetches, by what its body says. 0 for bodies that are
// too short to say it.
uint64_t moved_bytes(const smb::Header& header, std::string_view message);

}  // namespace kyanite::drive
