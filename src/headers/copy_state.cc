#include "headers/copy_state.h"

#include "base/bytes.h"
#include "wire/date.h"

namespace kyanite::headers {

void encode_copy(http::Reply& reply, const Copy& copy) {
  if (copy.status == CopyStatus::kNone) return;
  reply.header("x-ms-copy-id", copy.id)
      .header("x-ms-copy-source", copy.source)
      .header("x-ms-copy-status", name(copy.status));
  std::string progress;
  append_uint(progress, copy.copied);
  progress += '/';
  append_uint(progress, copy.total);
  reply.header("x-ms-copy-progress", progress);
  if (copy.completed.set())
    reply.header("x-ms-copy-completion-time", wire::http_date(copy.completed));
  if (!copy.status_description.empty())
    reply.header("x-ms-copy-status-description", copy.status_description);
  if (copy.incremental) reply.header("x-ms-incremental-copy", "true");
  if (copy.destination_snapshot.set()) {
    reply.header("x-ms-copy-destination-snapshot", wire::iso_date(copy.destination_snapshot));
  }
}

void encode_copy_started(http::Reply& reply, const Copy& copy) {
  reply.header("x-ms-copy-id", copy.id);
  reply.header("x-ms-copy-status", name(copy.status));
}

}  // namespace kyanite::headers
