#include "service/storage.h"

namespace kyanite::service {

wire::Error storage_error(store::Error error) {
  switch (error) {
    case store::Error::kConflict: {
      wire::Error busy(wire::Code::kServerBusy);
      busy.conflict = true;
      return busy;
    }
    case store::Error::kFull:
      // 503 tells clients to come back: writing works again once there is space.
      return wire::Error(wire::Code::kServerBusy)
          .saying("The server has no space left on its device.");
    case store::Error::kCorrupt:
      return wire::Error(wire::Code::kInternalError)
          .saying("Stored bytes of this resource are damaged.");
    case store::Error::kIo:
    case store::Error::kUnknown:
      // 500 promises nothing: clients look or try again.
      return wire::Code::kInternalError;
    case store::Error::kTooLarge:
      return wire::Error(wire::Code::kRequestBodyTooLarge)
          .saying("This changes more than one request can.");
    case store::Error::kBusy:
      return wire::Code::kServerBusy;
    case store::Error::kTimeout:
      return wire::Code::kOperationTimedOut;
  }
  return wire::Code::kInternalError;
}

}  // namespace kyanite::service
