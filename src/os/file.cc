#include "os/file.h"

#include <unistd.h>

namespace kyanite::os {

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace kyanite::os
