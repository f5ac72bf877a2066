// The function that a hook stands before.
#pragma once

#include <dlfcn.h>

// NOLINTNEXTLINE: the name is needed as text too.
#define KYANITE_NEXT(name)                                            \
  ([] {                                                               \
    static auto* const next_function =                                \
        reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return next_function;                                             \
  }())
