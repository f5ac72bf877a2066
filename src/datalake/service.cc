#include "datalake/service.h"

#include <utility>

#include "datalake/operations.h"
#include "wire/date.h"
#include "wire/json.h"
#include "wire/readable.h"

namespace kyanite::datalake {

using service::Call;
using wire::Code;

namespace {

// The table of Data Lake. Clients whose HTTP library has no PATCH send a PUT that says so in a
// header; it is signed as the PUT that it is.
std::vector<service::Operation> lake_table() {
  std::vector<service::Operation> all;
  for (service::Operation row : datalake::operations()) {
    if (row.method != "PATCH") continue;
    row.method = "PUT";
    row.selectors[0] = {"X-HTTP-Method-Override", "PATCH"};
    all.push_back(row);
  }
  const auto plain = datalake::operations();
  all.insert(all.end(), plain.begin(), plain.end());
  return all;
}

// What the Blob API calls otherwise.
Code lake_code(Code code) {
  static constexpr std::pair<Code, Code> kPairs[] = {
      {Code::kContainerNotFound, Code::kFilesystemNotFound},
      {Code::kContainerAlreadyExists, Code::kFilesystemAlreadyExists},
      {Code::kContainerBeingDeleted, Code::kFilesystemBeingDeleted},
      {Code::kBlobNotFound, Code::kPathNotFound},
      {Code::kBlobAlreadyExists, Code::kPathAlreadyExists},
      {Code::kLeaseNotPresentWithBlobOperation, Code::kLeaseNotPresent},
      {Code::kLeaseIdMismatchWithBlobOperation, Code::kLeaseIdMismatch},
      {Code::kLeaseNotPresentWithContainerOperation, Code::kLeaseNotPresent},
      {Code::kLeaseIdMismatchWithContainerOperation, Code::kLeaseIdMismatch},
  };
  for (const auto& [blob, lake] : kPairs) {
    if (code == blob) return lake;
  }
  return code;
}

// What errors are said to mean here, where that is not what the Blob API says.
std::string_view lake_message(Code code) {
  if (code == Code::kLeaseIdMissing) {
    return "There is currently a lease on the resource and no lease ID was specified in the "
           "request.";
  }
  if (code == Code::kLeaseLost)
    return "A lease ID was specified, but the lease for the resource has expired.";
  if (code == Code::kDirectoryNotEmpty) {
    return "The recursive query parameter value must be true to delete a non-empty directory.";
  }
  return wire::default_message(code);
}

bool has_lake_host(std::string_view host) {
  const size_t dot = host.find('.');
  return dot != std::string_view::npos && host.substr(dot + 1).starts_with("dfs.");
}

}  // namespace

LakeService::LakeService() : all_(lake_table()), lake_rows_(all_.size()) {
  const auto blobs = BlobService::operations();
  all_.insert(all_.end(), blobs.begin(), blobs.end());
}

bool is_lake(const Call& call) {
  const auto& headers = call.headers();
  const auto& query = call.query;
  if (query.has("comp") || query.has("restype")) return false;
  if (has_lake_host(headers.get("Host"))) return true;
  const std::string_view method = call.request.method;
  if (method == "PATCH" || query.has("resource") || query.has("action") || query.has("recursive") ||
      headers.has("x-ms-rename-source")) {
    return true;
  }
  if (method == "POST") return headers.has("x-ms-lease-action");
  return (method == "GET" || method == "HEAD" || method == "DELETE") &&
         headers.get("Accept").starts_with("application/json");
}

std::span<const service::Operation> LakeService::operations_for(const Call& call) const {
  const std::span<const service::Operation> all(all_);
  return is_lake(call) ? all.first(lake_rows_) : all.subspan(lake_rows_);
}

void LakeService::render(const Call& call, const wire::Error& error, http::Reply& reply) const {
  if (!is_lake(call)) return BlobService::render(call, error, reply);
  const Code code = lake_code(error.code);
  // A text of its own stays; one from the table goes with its code.
  const std::string_view message = error.message == wire::default_message(error.code)
                                       ? lake_message(code)
                                       : std::string_view(error.message);
  reply.header("x-ms-error-code", wire::name(code));
  reply.because(message);
  if (call.request.method == "HEAD" || error.status == 304) return;
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().key("error").begin_object();
  json.member("code", wire::name(code));
  json.member("message", wire::readable(message) + "\nRequestId:" + call.request_id +
                             "\nTime:" + wire::iso_date(call.now).str());
  if (!error.details.empty()) {
    json.key("detail").begin_object();
    for (const auto& [element, value] : error.details) json.member(element, wire::readable(value));
    json.end_object();
  }
  json.end_object().end_object();
  reply.header("Content-Type", "application/json;charset=utf-8");
  reply.body = std::move(body);
}

}  // namespace kyanite::datalake
