#include "datalake/path_reply.h"

#include "base/bytes.h"
#include "datalake/access_headers.h"
#include "datalake/properties.h"
#include "headers/lease.h"
#include "wire/date.h"

namespace kyanite::datalake {

namespace {
constexpr std::string_view kTransaction = "x-ms-client-transaction-id";
}

wire::Result<std::string> decode_transaction(const service::Call& call) {
  auto id = headers::decode_guid(call, kTransaction);
  if (!id) return id.error();
  return id->value_or("");
}

void encode_path(http::Reply& reply, const service::Call& call, const blob::FoundBlob& found,
                 bool with_properties) {
  const blob::Blob& blob = *found.blob;
  blob::encode_changed(reply, blob.changed);
  headers::encode_http_properties(reply, call, blob.http);
  reply.header("Accept-Ranges", "bytes");
  reply.header("x-ms-resource-type", blob::resource_type(blob));
  reply.header("x-ms-creation-time", wire::http_date(blob.created));
  headers::encode_lease(reply, blob.lease, call.now);
  reply.header("x-ms-server-encrypted", "true");
  if (blob.expires.set()) reply.header("x-ms-expiry-time", wire::http_date(blob.expires));
  if (!blob.key_sha256.empty()) reply.header("x-ms-encryption-key-sha256", base64(blob.key_sha256));
  if (blob.node) {
    encode_access(reply, blob.node->access);
    if (!blob.node->encryption_context.empty())
      reply.header("x-ms-encryption-context", blob.node->encryption_context);
    if (!blob.node->transaction.empty()) reply.header(kTransaction, blob.node->transaction);
  }
  if (with_properties) reply.header("x-ms-properties", encode_properties(blob.metadata));
}

}  // namespace kyanite::datalake
