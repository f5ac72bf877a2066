// Static websites: the blobs of the container $web as pages, on a listener of their own. Anybody
// may read them while the account's service properties have the website enabled; nothing can be
// written. docs/decisions/static-website.md tells how pages are addressed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "account/properties.h"
#include "service/service.h"

namespace kyanite::blob {

class WebsiteService final : public service::Service {
 public:
  wire::Service kind() const override { return wire::Service::kBlob; }
  std::span<const service::Operation> operations() const override;
  wire::Result<void> address(service::Call& call, std::string_view path) const override;
  // A page for people instead of the protocol's XML.
  void render(const service::Call& call, const wire::Error& error,
              http::Reply& reply) const override;
  Task<wire::Result<auth::Acl>> acl(service::Call& call) const override;
};

// The names under which a page is looked for, in order: the blob of that name unless it is a
// directory's, then the directory's index document.
std::vector<std::string> page_names(std::string_view path, const account::StaticWebsite& website);

}  // namespace kyanite::blob
