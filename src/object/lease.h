// The lease of an object as its record has it.
#pragma once

#include "concurrency/lease.h"

namespace kyanite::object {

struct StoredLease : concurrency::Lease {
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, duration_s);
    io(3, expires);
    io(4, break_ends);
  }
};

}  // namespace kyanite::object
