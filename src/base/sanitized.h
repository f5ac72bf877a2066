// Whether this is built with a sanitizer that has to see every allocation. GCC and clang say so in
// different ways. Such a build keeps freed memory and a shadow of all: what a test measures of
// memory there is the sanitizer's.
#pragma once

namespace kyanite {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace kyanite
