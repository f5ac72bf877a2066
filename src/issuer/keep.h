// Secrets that are made once and then kept in a file.
#pragma once

#include <functional>
#include <string>

#include "os/file.h"

namespace kyanite::issuer {

// The folder in the location.
inline std::string folder_in(const std::string& location) { return location + "/issuer"; }

// What the file of that name in the directory holds, which is made if it is missing: readable by
// the owner alone, whole or not at all. The caller is the only one who uses the directory.
os::Result<std::string> keep_secret(const std::string& directory, const std::string& name,
                                    const std::function<std::string()>& make);

}  // namespace kyanite::issuer
