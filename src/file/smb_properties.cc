#include "file/smb_properties.h"

#include "base/bytes.h"
#include "file/permissions.h"
#include "file/versions.h"
#include "wire/date.h"

namespace kyanite::file {

using service::Call;
using tree::kArchiveAttribute;
using tree::kDirectoryAttribute;
using tree::kReadOnlyAttribute;

namespace {

struct NamedAttribute {
  Attributes bit;
  std::string_view name;
};
constexpr NamedAttribute kAttributes[] = {{kReadOnlyAttribute, "ReadOnly"},
                                          {0x2, "Hidden"},
                                          {0x4, "System"},
                                          {kDirectoryAttribute, "Directory"},
                                          {kArchiveAttribute, "Archive"},
                                          {0x100, "Temporary"},
                                          {0x1000, "Offline"},
                                          {0x2000, "NotContentIndexed"},
                                          {0x20000, "NoScrubData"}};

bool stands_for_another(std::string_view text) {
  return text.empty() || equals_ignoring_case(text, "preserve") ||
         equals_ignoring_case(text, "source");
}

wire::Result<std::optional<Time>> decode_time(const Call& call, std::string_view header) {
  const auto text = call.headers().get(header);
  if (stands_for_another(text)) return std::optional<Time>();
  if (equals_ignoring_case(text, "now")) return std::optional<Time>(call.now);
  const auto time = wire::parse_iso_date(text);
  if (!time) return wire::invalid_header(header, text);
  return time;
}

}  // namespace

std::string attributes_text(const Entry& entry) {
  const Attributes bits = entry.smb.attributes | (entry.directory ? kDirectoryAttribute : 0);
  std::string text;
  for (const auto& attribute : kAttributes) {
    if ((bits & attribute.bit) == 0) continue;
    if (!text.empty()) text += " | ";
    text += attribute.name;
  }
  return text.empty() ? "None" : text;
}

std::optional<Attributes> parse_attributes(std::string_view text) {
  Attributes bits = 0;
  while (true) {
    const size_t bar = text.find('|');
    const std::string_view word = trim(text.substr(0, bar));
    bool known = equals_ignoring_case(word, "none");
    for (const auto& attribute : kAttributes) {
      if (!equals_ignoring_case(word, attribute.name)) continue;
      bits |= attribute.bit;
      known = true;
    }
    if (!known) return {};
    if (bar == std::string_view::npos) return bits;
    text.remove_prefix(bar + 1);
  }
}

wire::Result<SmbOrder> decode_smb_order(const Call& call) {
  constexpr std::string_view kHeader = "x-ms-file-attributes";
  SmbOrder order;
  if (const auto text = call.headers().get(kHeader); !stands_for_another(text)) {
    order.attributes = parse_attributes(text);
    if (!order.attributes) return wire::invalid_header(kHeader, text);
  }
  const std::pair<std::string_view, std::optional<Time>*> times[] = {
      {"x-ms-file-creation-time", &order.created},
      {"x-ms-file-last-write-time", &order.written},
      {"x-ms-file-change-time", &order.changed}};
  for (const auto& [header, value] : times) {
    auto time = decode_time(call, header);
    if (!time) return time.error();
    *value = *time;
  }
  order.posix = {std::string(call.headers().get("x-ms-owner")),
                 std::string(call.headers().get("x-ms-group")),
                 std::string(call.headers().get("x-ms-mode"))};
  return order;
}

void apply_to_new(const Call& call, const SmbOrder& order, Entry& entry) {
  entry.smb.attributes = order.attributes.value_or(0) & ~kDirectoryAttribute;
  // A new file has yet to be archived, unless it is put back as it was.
  const bool restored =
      equals_ignoring_case(call.headers().get("x-ms-file-property-semantics"), "Restore");
  if (!entry.directory && !restored) entry.smb.attributes |= kArchiveAttribute;
  entry.smb.created = order.created.value_or(call.now);
  entry.smb.written = order.written.value_or(call.now);
  entry.smb.changed = order.changed.value_or(call.now);
  entry.posix = order.posix;
}

void apply_to_existing(const Call& call, const SmbOrder& order, Entry& entry) {
  if (order.attributes) entry.smb.attributes = *order.attributes & ~kDirectoryAttribute;
  if (order.created) entry.smb.created = *order.created;
  if (order.written) entry.smb.written = *order.written;
  entry.smb.changed = order.changed.value_or(call.now);
  if (!order.posix.owner.empty()) entry.posix.owner = order.posix.owner;
  if (!order.posix.group.empty()) entry.posix.group = order.posix.group;
  if (!order.posix.mode.empty()) entry.posix.mode = order.posix.mode;
}

void encode_smb(http::Reply& reply, const Call& call, const Entry& entry, EntryId parent) {
  if (call.version < kSmbProperties) return;
  const auto& smb = entry.smb;
  // The root has none until it is given one.
  if (!smb.permission_key.empty() || entry.id != kRootId) {
    reply.header("x-ms-file-permission-key",
                 smb.permission_key.empty() ? default_permission_key() : smb.permission_key);
  }
  reply.header("x-ms-file-attributes", attributes_text(entry))
      .header("x-ms-file-creation-time", wire::iso_date(smb.created))
      .header("x-ms-file-last-write-time", wire::iso_date(smb.written))
      .header("x-ms-file-change-time", wire::iso_date(smb.changed))
      .header("x-ms-file-id", entry.id)
      .header("x-ms-file-parent-id", parent);
  if (!entry.posix.owner.empty()) reply.header("x-ms-owner", entry.posix.owner);
  if (!entry.posix.group.empty()) reply.header("x-ms-group", entry.posix.group);
  if (!entry.posix.mode.empty()) reply.header("x-ms-mode", entry.posix.mode);
}

}  // namespace kyanite::file
