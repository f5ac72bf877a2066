// The SMB properties of files and directories between headers and records: attributes, times, ids,
// the key of the permission.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file/records.h"
#include "service/call.h"
#include "wire/error.h"

namespace kyanite::file {

using tree::Attributes;
using tree::PosixProperties;

// "ReadOnly | Archive", or "None".
std::string attributes_text(const Entry& entry);
// Names in any case, separated by '|'; nothing when one is unknown.
std::optional<Attributes> parse_attributes(std::string_view text);

// What a request says of them; unset: nothing, or to be left as it is.
struct SmbOrder {
  std::optional<Attributes> attributes;
  std::optional<Time> created;
  std::optional<Time> written;
  std::optional<Time> changed;
  PosixProperties posix;
};
// x-ms-file-attributes, -creation-time, -last-write-time, -change-time, x-ms-owner, -group, -mode.
// Values that stand for something else (`preserve`, and `source` of a copy) count as nothing said.
wire::Result<SmbOrder> decode_smb_order(const service::Call& call);

// For an entry that is created now.
void apply_to_new(const service::Call& call, const SmbOrder& order, Entry& entry);
// For one that exists. The change time becomes now unless the order names one.
void apply_to_existing(const service::Call& call, const SmbOrder& order, Entry& entry);

// x-ms-file-*: ids, attributes, times and permission key. Nothing to clients of versions before
// them.
void encode_smb(http::Reply& reply, const service::Call& call, const Entry& entry, EntryId parent);

}  // namespace kyanite::file
