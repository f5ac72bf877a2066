// A blob or file of this server as the source of a copy, whichever service it belongs to.
#pragma once

#include <string>

#include "base/clock.h"
#include "content/content.h"
#include "service/http_properties.h"
#include "service/metadata.h"
#include "store/store.h"

namespace kyanite::service {

struct SourceObject {
  store::SpaceId space = 0;
  std::string partition;
  content::Content content;
  store::Guard head;  // The record that names the content.
  Time changed;
  HttpProperties http;
  Metadata metadata;

  content::Place place() const { return {space, partition}; }
};

}  // namespace kyanite::service
