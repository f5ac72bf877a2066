// The properties of shares and their snapshots between headers, records and listings.
#pragma once

#include <cstdint>

#include "file/records.h"
#include "service/call.h"
#include "wire/error.h"
#include "wire/xml.h"

namespace kyanite::file {

inline constexpr uint64_t kDefaultQuotaGib = 5 * 1024;
inline constexpr uint64_t kMaxQuotaGib = 100 * 1024;

// The properties of a new share.
wire::Result<ShareProperties> decode_new_share(const service::Call& call);
// Takes over what the request sets; the rest stays.
wire::Result<void> decode_share_changes(const service::Call& call, ShareProperties& properties);

// Everything of Get Share Properties but metadata, ETag and Last-Modified.
void encode_share_properties(http::Reply& reply, const service::Call& call, const Share& share);
void encode_snapshot_properties(http::Reply& reply, const service::Call& call,
                                const Snapshot& snapshot);

// The children of the Properties element that a share or a snapshot has in a listing.
void write_share_properties(wire::XmlWriter& xml, const service::Call& call, const Share& share);
void write_snapshot_properties(wire::XmlWriter& xml, const service::Call& call,
                               const Snapshot& snapshot);

}  // namespace kyanite::file
