// The four services and how the protocol names them.
#pragma once

#include <string_view>

namespace kyanite::wire {

enum class Service { kBlob, kQueue, kTable, kFile };

constexpr std::string_view name(Service service) {
  switch (service) {
    case Service::kBlob:
      return "blob";
    case Service::kQueue:
      return "queue";
    case Service::kTable:
      return "table";
    case Service::kFile:
      return "file";
  }
  return "";
}

}  // namespace kyanite::wire
