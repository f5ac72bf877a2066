#include "object/copy.h"

namespace kyanite::object {

std::string_view name(CopyStatus status) {
  switch (status) {
    case CopyStatus::kNone:
      return "";
    case CopyStatus::kPending:
      return "pending";
    case CopyStatus::kSuccess:
      return "success";
    case CopyStatus::kAborted:
      return "aborted";
    case CopyStatus::kFailed:
      return "failed";
  }
  return "";
}

}  // namespace kyanite::object
