// What REST clients are told when the tree refuses.
#pragma once

#include <optional>

#include "tree/error.h"
#include "wire/error.h"

namespace kyanite::file {

// A conflict stays one, for the loop that makes the decision.
wire::Error refusal(const tree::Error& error);

// Lets functions that the tree calls refuse in the words of REST.
class OwnRefusal {
 public:
  // What the tree is told.
  tree::Error note(wire::Error error);
  // What the client is told.
  wire::Error tell(const tree::Error& error) const;

 private:
  std::optional<wire::Error> noted_;
};

}  // namespace kyanite::file
