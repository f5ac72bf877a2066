// The wording of refusals that several schemes share. Details are for people; programs look at the
// code.
#pragma once

#include <string_view>

#include "wire/error.h"

namespace kyanite::auth {

// 403 AuthenticationFailed with the reason. The detail may quote the request and the string that
// was signed, never a key.
inline wire::Error authentication_failed(std::string_view detail) {
  return wire::Error(wire::Code::kAuthenticationFailed).with("AuthenticationErrorDetail", detail);
}

}  // namespace kyanite::auth
