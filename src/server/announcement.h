// What the server says of itself on the console when it serves.
#pragma once

#include <string>
#include <vector>

#include "server/certificates.h"
#include "server/local_tokens.h"
#include "server/settings.h"
#include "server/start_text.h"

namespace kyanite::server {

// To standard output, at once.
void print(const std::string& text);

// Null when it is not served.
const Started* find_started(const std::vector<Started>& started, Listener listener);

// Warnings first, then where everything is. `tokens` is null when the server issues none.
void announce(const Settings& settings, const std::vector<Started>& started,
              const Certificates& certificates, const LocalTokens* tokens);

}  // namespace kyanite::server
