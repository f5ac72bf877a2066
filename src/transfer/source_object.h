// A blob or file of this server as the source of a copy, whichever service it belongs to.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/task.h"
#include "content/content.h"
#include "headers/http_properties.h"
#include "headers/metadata.h"
#include "headers/range.h"
#include "service/call.h"
#include "store/store.h"
#include "wire/error.h"

namespace kyanite::transfer {

struct SourceObject {
  store::SpaceId space = 0;
  std::string partition;
  content::Content content;
  store::Guard head;  // The record that names the content.
  Time changed;
  headers::HttpProperties http;
  headers::Metadata metadata;

  content::Place place() const { return {space, partition}; }
};

// A service whose objects can be copied.
class Sources {
 public:
  virtual ~Sources() = default;
  // What the call addresses, which reads an object and was let in: a range of it or the whole.
  virtual Task<wire::Result<SourceObject>> source(
      service::Call& call, const std::optional<headers::ByteRange>& range) const = 0;
};

// Likewise, whichever service it is. Refused where there is nothing to copy.
Task<wire::Result<SourceObject>> find_source(service::Call& call,
                                             const std::optional<headers::ByteRange>& range);

}  // namespace kyanite::transfer
