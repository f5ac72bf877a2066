// What all operations that create or replace a blob decode and set alike.
#pragma once

#include <optional>

#include "blob/blob.h"
#include "blob/tags.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::blob {

struct NewBlob {
  headers::Metadata metadata;
  HttpProperties http;
  Tags tags;
  Tier tier = Tier::kInferred;
  Immutability immutability;
  bool legal_hold = false;
};

// From the headers of Put Blob, Put Block List and their like. Properties come from x-ms-blob-*
// headers.
wire::Result<NewBlob> decode_new_blob(const service::Call& call, BlobType type);

// Puts the standard content headers in place of x-ms-blob-* headers that are absent (Put Blob
// only).
wire::Result<void> fill_from_standard_headers(const service::Call& call, HttpProperties& http);

// A head for a blob of this type: new, or in the place of `before`, whose lease goes on.
Blob make_blob(const service::Call& call, BlobType type, const NewBlob& fresh,
               const std::optional<Blob>& before);

// Whether a blob of this type may take the place of what is there: a create-only SAS replaces
// nothing, and a blob never changes its type.
wire::Result<void> check_overwrite(const service::Call& call, const std::optional<Blob>& before,
                                   BlobType type);

// For edits that create or replace a blob: sees that they may, gives up the blocks that wait to be
// committed, and makes the head, still without content.
Task<wire::Result<void>> replace_blob(service::Call& call, Change& change, BlobType type,
                                      const NewBlob& fresh);

// Refuses early what the commit would refuse anyway, before gigabytes are sent for nothing.
Task<wire::Result<void>> check_before_body(service::Call& call, const Checks& checks);

// The body of a request that writes, at most `most` bytes: looks at the blob first, then receives
// it, encrypted with the key that the request came with.
Task<wire::Result<Uploaded>> receive_upload(service::Call& call, const Checks& checks,
                                            uint64_t most, Md5 md5 = Md5::kWhenSent);

// x-ms-access-tier (or another header) by name; nothing when absent, 400 when unknown.
wire::Result<std::optional<Tier>> decode_tier(const service::Call& call, std::string_view header);

// x-ms-rehydrate-priority: "High" or "Standard", which it is when absent.
wire::Result<std::string> decode_rehydrate_priority(const service::Call& call);

// x-ms-immutability-policy-until-date and -mode.
wire::Result<Immutability> decode_immutability(const service::Call& call);

}  // namespace kyanite::blob
