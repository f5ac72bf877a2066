// The source of a copy, named by the URL in x-ms-copy-source: an object of this server, which is
// found without a socket and shares its bytes, or anything another server offers over HTTP. What a
// client is told of a source that cannot be used differs between the operations that copy, so it is
// theirs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"
#include "content/content.h"
#include "headers/conditions.h"
#include "headers/range.h"
#include "http/fetch.h"
#include "http/url.h"
#include "service/call.h"
#include "transfer/hashes.h"
#include "transfer/upload.h"
#include "wire/error.h"

namespace kyanite::transfer {

// x-ms-copy-source.
wire::Result<http::Url> decode_source_url(const service::Call& call);
// The URL without the signature, so that whoever may read the copy does not get a key to its
// source.
std::string without_signature(std::string_view url);

// A read of the source, made inside the server: it has its own account, resource and caller.
class SourceCall {
 public:
  SourceCall(const service::Call& outer, const http::Url& url, const service::Service& service);
  SourceCall(const SourceCall&) = delete;
  SourceCall& operator=(const SourceCall&) = delete;

  service::Call& call() { return call_; }

 private:
  const std::string path_, query_, host_;
  http::Request request_;
  service::Call call_;
};

// What the source's call addresses, and which operation would read it.
wire::Result<void> resolve_source(service::Call& source);
// Who reads the source, and may they. A trusted one is read with the credentials of the copy
// itself.
Task<wire::Result<void>> authorize_source(const service::Call& outer, service::Call& source,
                                          bool trusted);

// Asks another server for the source, or a range of it, under the conditions that the request's
// `conditions` headers name. `with_credentials`: x-ms-copy-source-authorization is passed on, with
// what else is in `credentials`. The status of the reply is the caller's to judge.
Task<wire::Result<std::unique_ptr<http::Fetched>>> fetch_source(
    service::Call& call, const http::Url& url, const std::optional<headers::ByteRange>& range,
    const headers::ConditionHeaders& conditions, bool with_credentials,
    http::Fetcher::Lines credentials = {});

// The ciphers of a source and of its copy, for what is encrypted with customers' keys.
struct SourceCiphers {
  content::CipherPtr from;
  content::CipherPtr to;
  bool same = true;  // Both have the same key or none.
};

// Pieces, end to end from offset 0, and hashes of a part of an object of this server; a
// conflict when it was changed meanwhile. The pieces are shared unless they have to be encrypted
// anew.
Task<wire::Result<Uploaded>> share_source(service::Call& call, const content::Place& place,
                                          const content::Content& content, const store::Guard& head,
                                          const headers::Span& span, Hashes& hashes,
                                          const SourceCiphers& ciphers = {});
// Receives and stores what another server sends, at most `most` bytes (413 beyond). A server that
// ignores ranges sends the whole.
Task<wire::Result<Uploaded>> receive_source(service::Call& call, http::Fetched& from,
                                            const std::optional<headers::ByteRange>& range,
                                            uint64_t most, Hashes& hashes,
                                            content::CipherPtr cipher = nullptr);

}  // namespace kyanite::transfer
