// What Azurite prints when it starts and stops, word for word: scripts and test containers wait for
// these lines.
#pragma once

#include <string>
#include <vector>

#include "server/options.h"
#include "server/start_text.h"

namespace kyanite::server {

// "" for a program that was not called by one of Azurite's names.
std::string azurite_start_text(const Options& options, const std::vector<Started>& started);
std::string azurite_closing_text(const Options& options, const std::vector<Started>& started);
std::string azurite_closed_text(const Options& options, const std::vector<Started>& started);

}  // namespace kyanite::server
