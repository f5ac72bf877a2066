// Find Blobs by Tags: GET /?comp=blobs&where={expression}, or GET
// /{container}?restype=container&comp=blobs&where=...
#include "blob/container.h"
#include "blob/handlers.h"
#include "blob/tag_index.h"
#include "blob/tags.h"
#include "transfer/listing.h"

namespace kyanite::blob {

using service::Call;

Outcome find_blobs_by_tags(Call& call) {
  const auto where = call.query.find("where");
  if (!where || where->empty()) {
    co_return wire::Error(wire::Code::kMissingRequiredQueryParameter)
        .with("QueryParameterName", "where");
  }
  const auto query = TagQuery::parse(*where, TagQuery::Dialect::kFind);
  if (!query) {
    const auto& mistake = query.error();
    co_return wire::invalid_query("where", *where, "This query parameter value is invalid.")
        .saying("Error parsing query at or near character position " +
                std::to_string(mistake.position) + ": " + std::string(mistake.expected));
  }
  auto page = transfer::decode_page(call);
  if (!page) co_return page.error();
  if (!call.target.container.empty()) {
    if (auto container = co_await load_container(call); !container) co_return container.error();
  }
  auto found = co_await find_by_tags(call, *query, call.target.container, page->start, page->most);
  if (!found) co_return found.error();

  wire::XmlWriter xml;
  xml.open("EnumerationResults").attribute("ServiceEndpoint", call.endpoint);
  transfer::write_page(xml, *page);
  xml.element("Where", *where).open("Blobs");
  for (const auto& match : found->matches) {
    // Of its tags a match shows those that the expression speaks of.
    Tags shown;
    for (const auto& tag : match.tags) {
      for (const auto& comparison : query->alternatives().front()) {
        if (comparison.name == tag.first && (shown.empty() || shown.back() != tag))
          shown.push_back(tag);
      }
    }
    xml.open("Blob").element("Name", match.blob).element("ContainerName", match.container);
    write_tags(xml, shown);
    xml.close("Blob");
  }
  xml.close("Blobs").element("NextMarker",
                             found->next.empty() ? "" : transfer::write_marker(found->next));
  xml.close("EnumerationResults");
  http::Reply reply(200);
  reply.header("Content-Type", "application/xml");
  reply.body = xml.take();
  co_return reply;
}

}  // namespace kyanite::blob
