// Builds the os::Error of a failed call. Private to os/.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "os/file.h"

namespace kyanite::os {

inline Failure<Error> failed(std::string_view doing, std::string_view path, int code) {
  std::string what(doing);
  what.append(" ").append(path).append(": ").append(std::generic_category().message(code));
  return Failure<Error>{{code, std::move(what)}};
}

}  // namespace kyanite::os
