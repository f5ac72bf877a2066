#include "blob/records.h"

namespace kyanite::blob {

std::string_view name(BlobType type) {
  switch (type) {
    case BlobType::kBlock:
      return "BlockBlob";
    case BlobType::kPage:
      return "PageBlob";
    case BlobType::kAppend:
      return "AppendBlob";
  }
  return "";
}

std::string_view name(auth::PublicAccess access) {
  switch (access) {
    case auth::PublicAccess::kNone:
      return "";
    case auth::PublicAccess::kBlob:
      return "blob";
    case auth::PublicAccess::kContainer:
      return "container";
  }
  return "";
}

std::string_view name(Tier tier) {
  switch (tier) {
    case Tier::kInferred:
    case Tier::kHot:
      return "Hot";
    case Tier::kCool:
      return "Cool";
    case Tier::kCold:
      return "Cold";
    case Tier::kArchive:
      return "Archive";
  }
  return "";
}

}  // namespace kyanite::blob
