// What kyanite does beside serving: kyanite COMMAND ... Each takes the words behind its name and
// answers with an exit code.
#pragma once

#include <string>
#include <vector>

namespace kyanite::server {

// Of kyanite check, where damage was found.
inline constexpr int kDamagedExit = 2;

int check_command(const std::vector<std::string>& arguments);
int backup_command(const std::vector<std::string>& arguments);
int restore_command(const std::vector<std::string>& arguments);
int migrate_command(const std::vector<std::string>& arguments);
int import_command(const std::vector<std::string>& arguments);

}  // namespace kyanite::server
