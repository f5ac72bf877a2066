// A message in pieces, each of which is asked for when its turn comes: what has to be fetched from
// somewhere is then still near the processor when it is signed or encrypted.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace kyanite::smb {

// The next piece, valid until the one after it is asked for; nothing at the end.
using NextPiece = std::function<std::optional<std::string_view>()>;

// Of pieces that are there already, which outlive it.
inline NextPiece one_by_one(std::span<const std::string_view> pieces) {
  return [pieces]() mutable -> std::optional<std::string_view> {
    if (pieces.empty()) return {};
    const std::string_view next = pieces.front();
    pieces = pieces.subspan(1);
    return next;
  };
}

}  // namespace kyanite::smb
