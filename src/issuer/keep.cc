#include "issuer/keep.h"

#include <cerrno>

#include "os/directory.h"

namespace kyanite::issuer {

os::Result<std::string> keep_secret(const std::string& directory, const std::string& name,
                                    const std::function<std::string()>& make) {
  auto found = os::read_text(directory + "/" + name);
  if (found || found.error().code != ENOENT) return found;
  if (auto made = os::make_directories(directory); !made) return Failure{made.error()};
  std::string fresh = make();
  if (auto written = os::write_secret(directory, name, fresh); !written)
    return Failure{written.error()};
  return fresh;
}

}  // namespace kyanite::issuer
