// What a blob or file tells of the last copy into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace kyanite::object {

enum class CopyStatus : uint8_t { kNone, kPending, kSuccess, kAborted, kFailed };
std::string_view name(CopyStatus status);  // "" for none

struct Copy {
  std::string id;
  std::string source;
  CopyStatus status = CopyStatus::kNone;
  std::string status_description;
  uint64_t copied = 0;
  uint64_t total = 0;
  Time completed;
  bool incremental = false;
  Time destination_snapshot;  // of an incremental copy
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, source);
    io(3, status);
    io(4, status_description);
    io(5, copied);
    io(6, total);
    io(7, completed);
    io(8, incremental);
    io(9, destination_snapshot);
  }
};

}  // namespace kyanite::object
