// What replies of the Table service have in common: the level of metadata a client asked for, the
// headers that go with JSON, errors, and continuation tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"
#include "service/call.h"
#include "table/json_entity.h"
#include "wire/error.h"

namespace kyanite::table {

// $format, else Accept. JSON is the only format: 415 when the client accepts none of it.
wire::Result<Metadata> decode_metadata_level(const service::Call& call);
// 415 when a body is announced as something else than JSON.
wire::Result<void> check_content_type(const service::Call& call);

std::string_view content_type(Metadata metadata);
http::Reply json_reply(int status, Metadata metadata, std::string body);
http::Reply empty_reply();  // 204

// Prefer: whether the client wants to get back what it sent.
enum class Preference { kUnstated, kReturnContent, kReturnNoContent };
Preference decode_preference(const service::Call& call);
void encode_preference(http::Reply& reply, Preference preference);

// The error as {"odata.error":{...}} with the headers that go with it.
void render_json_error(const service::Call& call, const wire::Error& error, http::Reply& reply);

// Whether the request is one of those that speak XML: service properties, stats, access policies.
bool speaks_xml(const service::Call& call);

// $top; 400 InvalidInput beyond `most`. 0 asks for nothing and gets it.
wire::Result<size_t> decode_top(const service::Call& call, size_t most);

// 501 for the options of OData that the service knows and does not offer. Others it ignores.
wire::Result<void> check_query_options(const service::Call& call);

// Keys in continuation headers: "1!" length "!" base64 with '=' written '-'.
std::string encode_token(std::string_view key);
std::optional<std::string> decode_token(std::string_view text);

}  // namespace kyanite::table
