// Asks a running server how it is, from outside: what --healthcheck, container runtimes and the
// watchdog use. Blocks, so it is for threads of their own.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "server/options.h"

namespace kyanite::server {

// The status that /healthz answers, or why there was no answer in time.
Result<int, std::string> ask_health(const std::string& host, uint16_t port,
                                    std::chrono::milliseconds timeout);

// Whether the server that such options start is well; the error is a sentence for the user.
Result<void, std::string> check_health(const Options& options);

}  // namespace kyanite::server
