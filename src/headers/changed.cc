#include "headers/changed.h"

#include "concurrency/etag.h"
#include "wire/date.h"

namespace kyanite::headers {

void encode_changed(http::Reply& reply, Time changed) {
  reply.header("ETag", concurrency::ETag{changed}.quoted());
  reply.header("Last-Modified", wire::http_date(changed));
}

}  // namespace kyanite::headers
