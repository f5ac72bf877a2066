#include "datalake/listing.h"

#include <algorithm>

#include "base/bytes.h"

namespace kyanite::datalake {

wire::Result<Page> decode_page(const service::Call& call) {
  Page page;
  if (const auto text = call.query.find("maxResults"); text && !text->empty()) {
    const auto most = parse_uint(*text);
    if (!most || *most == 0) return wire::invalid_query("maxResults", *text);
    page.most = std::min(*most, transfer::kMaxListResults);
  }
  if (const auto text = call.query.find("continuation"); text && !text->empty()) {
    auto start = unbase64(*text);
    if (!start) return wire::invalid_query("continuation", *text);
    page.start = std::move(*start);
  }
  return page;
}

void encode_continuation(http::Reply& reply, std::string_view next) {
  if (!next.empty()) reply.header("x-ms-continuation", base64(next));
}

}  // namespace kyanite::datalake
