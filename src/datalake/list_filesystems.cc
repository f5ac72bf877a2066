// Filesystem - List: GET /?resource=account
#include "base/bytes.h"
#include "blob/container.h"
#include "concurrency/etag.h"
#include "datalake/handlers.h"
#include "datalake/listing.h"
#include "lifetime/deleted.h"
#include "wire/date.h"
#include "wire/json.h"

namespace kyanite::datalake {

using service::Call;

Outcome list_filesystems(Call& call) {
  auto page = decode_page(call);
  if (!page) co_return page.error();
  std::string body, next;
  wire::JsonWriter json(body);
  json.begin_object().key("filesystems").begin_array();
  uint64_t count = 0;
  const lifetime::Walk walk{
      lifetime::kContainersFamily, {}, std::string(call.query.get("prefix")), page->start};
  auto see = [&](const lifetime::Listed<blob::Container>& listed,
                 const store::View&) -> store::Result<bool> {
    if (count++ == page->most) {
      next = listed.name;
      return false;
    }
    json.begin_object();
    json.member("name", listed.name);
    json.member("lastModified", wire::http_date(listed.value.changed));
    json.member("etag", concurrency::ETag{listed.value.changed}.quoted());
    json.end_object();
    return true;
  };
  auto walked = co_await lifetime::walk_directory<blob::Container>(call, walk, see);
  if (!walked) co_return service::storage_error(walked.error());
  json.end_array().end_object();
  http::Reply reply(200);
  reply.header("Content-Type", "application/json;charset=utf-8");
  encode_continuation(reply, next);
  reply.body = std::move(body);
  co_return reply;
}

}  // namespace kyanite::datalake
