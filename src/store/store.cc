#include "store/store.h"

namespace kyanite::store {

const char* describe(Error error) {
  switch (error) {
    case Error::kConflict:
      return "another commit came first";
    case Error::kFull:
      return "no space left on the device";
    case Error::kCorrupt:
      return "stored bytes do not match their checksum";
    case Error::kIo:
      return "the device failed";
  }
  return "unknown";
}

}  // namespace kyanite::store
