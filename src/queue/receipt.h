// Pop receipts: what a client must show to update or delete a message. Opaque to clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/place.h"
#include "wire/error.h"

namespace kyanite::queue {

struct Receipt {
  Lane lane = Lane::kReady;
  Time visible;         // With the message's id these are its place.
  uint64_t number = 0;  // Message::receipt

  std::string text() const;

  // Text that is no base64 is the client's mistake: 400 InvalidQueryParameterValue. Nothing when it
  // is, but this server cannot have given it.
  static wire::Result<std::optional<Receipt>> parse(std::string_view text);
  // Whether it is as long as the receipts of this protocol are.
  static bool has_length(std::string_view text);
  static wire::Error malformed(std::string_view text);
};

}  // namespace kyanite::queue
