// The wording of refusals that several schemes share. Details are for people; programs look at the
// code.
#pragma once

#include <string>
#include <string_view>

#include "wire/error.h"

namespace kyanite::auth {

// 403 AuthenticationFailed with the reason. The detail may quote the request and the string that
// was signed, never a key.
inline wire::Error authentication_failed(std::string_view detail) {
  return wire::Error(wire::Code::kAuthenticationFailed).with("AuthenticationErrorDetail", detail);
}

inline constexpr std::string_view kNotWellFormed = "Signature fields not well formed.";

// What a refusal quotes of a string to sign. No client needs more to find its mistake.
inline constexpr size_t kMaxQuotedBytes = 8 * 1024;
inline std::string quoted_text(std::string_view text) {
  if (text.size() <= kMaxQuotedBytes) return std::string(text);
  return std::string(text.substr(0, kMaxQuotedBytes)) + "...";
}

}  // namespace kyanite::auth
