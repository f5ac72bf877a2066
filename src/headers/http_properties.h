// Properties of a blob or file between headers and records.
#pragma once

#include <string>
#include <string_view>

#include "object/http_properties.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::headers {

using object::HttpProperties;

// The names under which clients set them.
struct HttpPropertyHeaders {
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view content_language;
  std::string_view content_disposition;
  std::string_view cache_control;
  std::string_view content_md5;
  bool any_md5 = false;  // Whatever is base64 is kept and shown as the MD5.
};
inline constexpr HttpPropertyHeaders kBlobPropertyHeaders{"x-ms-blob-content-type",
                                                          "x-ms-blob-content-encoding",
                                                          "x-ms-blob-content-language",
                                                          "x-ms-blob-content-disposition",
                                                          "x-ms-blob-cache-control",
                                                          "x-ms-blob-content-md5",
                                                          true};
// Files and blobs differ in nothing but the names, and in these being irregular.
inline constexpr HttpPropertyHeaders kFilePropertyHeaders{
    "x-ms-content-type",        "x-ms-content-encoding", "x-ms-content-language",
    "x-ms-content-disposition", "x-ms-cache-control",    "x-ms-content-md5"};

// The value of a header that is stored and shown again, or "". Listings carry it in XML, which one
// unreadable value would spoil for the whole container: 400 InvalidHeaderValue.
wire::Result<std::string> decode_shown(const service::Call& call, std::string_view header);

wire::Result<HttpProperties> decode_http_properties(const service::Call& call,
                                                    const HttpPropertyHeaders& names);

// What another server says of what it sends, made readable: whoever copies cannot mend it.
HttpProperties foreign_properties(const http::Headers& headers);

// Content-Type to Cache-Control; those that a SAS overrides as it says. Content-MD5 depends on the
// range of a read and is the caller's.
void encode_http_properties(http::Reply& reply, const service::Call& call,
                            const HttpProperties& http);

// Content-MD5 or another header that carries an MD5: 16 bytes, or empty when absent.
wire::Result<std::string> decode_md5(const service::Call& call, std::string_view header);

}  // namespace kyanite::headers
