#include "blob/website.h"

#include "base/bytes.h"
#include "blob/handlers.h"
#include "blob/names.h"
#include "wire/version.h"

namespace kyanite::blob {

using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kContainer = "$web";
// Browsers name no version of the protocol: pages are served by the rules of this one.
constexpr std::string_view kVersion = "2021-04-10";

// What belongs to the protocol rather than to the page: metadata, leases, tiers and the like.
void drop_protocol_headers(http::Reply& reply) {
  std::string kept;
  for (size_t at = 0; at < reply.head.size();) {
    const size_t end = reply.head.find('\n', at) + 1;
    const std::string_view line = std::string_view(reply.head).substr(at, end - at);
    if (!equals_ignoring_case(line.substr(0, 5), "x-ms-")) kept += line;
    at = end;
  }
  reply.head = std::move(kept);
}

// Conditions and ranges are about the page that was asked for, not about the one that says that
// there is none.
void drop_conditions(http::Request& request) {
  http::Headers kept;
  for (const auto& header : request.headers) {
    const bool conditional = equals_ignoring_case(header.name.substr(0, 3), "If-") ||
                             equals_ignoring_case(header.name, "Range") ||
                             equals_ignoring_case(header.name, "x-ms-range");
    if (!conditional) kept.add(header.name, header.value);
  }
  request.headers = std::move(kept);
}

bool is_absent(const wire::Error& error) {
  return error.code == Code::kBlobNotFound || error.code == Code::kContainerNotFound;
}

Outcome serve_page(Call& call, const std::string& name) {
  if (!check_blob_name(name)) co_return wire::Error(Code::kBlobNotFound);
  call.target.object = name;
  auto reading = call.request.method == "HEAD" ? get_blob_properties(call) : get_blob(call);
  auto page = co_await std::move(reading);
  if (page) drop_protocol_headers(*page);
  co_return page;
}

Outcome get_page(Call& call) {
  call.version_text = kVersion;
  call.version = *wire::Version::parse(kVersion);
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  const auto& website = (*properties)->static_website;
  const std::string path = call.target.object;
  for (const auto& name : page_names(path, website)) {
    auto page = co_await serve_page(call, name);
    if (page || !is_absent(page.error())) co_return page;
  }
  if (!website.error_document_404.empty()) {
    drop_conditions(call.request);
    auto page = co_await serve_page(call, website.error_document_404);
    if (page) page->status = 404;
    if (page || !is_absent(page.error())) co_return page;
  }
  co_return wire::Error(Code::kResourceNotFound).saying("The requested content does not exist.");
}

constexpr auth::Need kAnybody{.resource_type = 'o',
                              .account_sas = "r",
                              .service_sas = "r",
                              .anonymous = auth::PublicAccess::kBlob};
constexpr service::Operation kOperations[] = {
    {"Get Page", "Website_Get", "GET", auth::Level::kObject, "", "", {}, kAnybody, get_page},
    {"Get Page",
     "Website_GetWithHead",
     "HEAD",
     auth::Level::kObject,
     "",
     "",
     {},
     kAnybody,
     get_page},
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> page_names(std::string_view path, const account::StaticWebsite& website) {
  std::vector<std::string> names;
  const bool directory = path.empty() || path.ends_with('/');
  if (!directory) names.emplace_back(path);
  if (!website.index_document.empty()) {
    names.push_back(std::string(path) + (directory ? "" : "/") + website.index_document);
  } else if (directory && !website.default_index_path.empty()) {
    names.push_back(website.default_index_path);
  }
  return names;
}

std::span<const service::Operation> WebsiteService::operations() const { return kOperations; }

wire::Result<void> WebsiteService::address(Call& call, std::string_view path) const {
  call.query = {};  // Queries are for the scripts of pages.
  call.target.level = auth::Level::kObject;
  call.target.container = kContainer;
  call.target.object = path;
  return {};
}

void WebsiteService::render(const Call& call, const wire::Error& error, http::Reply& reply) const {
  reply.because(error.message);
  if (call.request.method == "HEAD" || error.status == 304) return;
  std::string title;
  append_uint(title, static_cast<uint64_t>(error.status));
  title.append(" ").append(wire::name(error.code));
  reply.header("Content-Type", "text/html; charset=utf-8");
  reply.body = "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" +
               title + "</h1><p>" + escaped(error.message) + "</p></body></html>\n";
}

Task<wire::Result<auth::Acl>> WebsiteService::acl(Call& call) const {
  auth::Acl acl;
  auto properties = co_await account::load_properties(call);
  if (!properties) co_return properties.error();
  if (!(*properties)->static_website.enabled) {
    co_return wire::Error(Code::kResourceNotFound).saying("The account has no static website.");
  }
  acl.public_access = auth::PublicAccess::kBlob;
  co_return acl;
}

}  // namespace kyanite::blob
