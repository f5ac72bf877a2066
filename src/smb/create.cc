#include "smb/create.h"

#include "smb/chain.h"

namespace kyanite::smb {

namespace {

// The name of a context as the number it is on the wire.
constexpr uint32_t tag(const char (&name)[5]) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<uint8_t>(name[i]);
  return number;
}
constexpr uint32_t kDurable = tag("DHnQ");
constexpr uint32_t kReconnect = tag("DHnC");
constexpr uint32_t kDurable2 = tag("DH2Q");
constexpr uint32_t kReconnect2 = tag("DH2C");
constexpr uint32_t kLease = tag("RqLs");
constexpr uint32_t kMaximalAccess = tag("MxAc");
constexpr uint32_t kOnDiskId = tag("QFid");
constexpr uint32_t kAllocationSize = tag("AlSi");
constexpr uint32_t kSnapshot = tag("TWrp");
constexpr uint32_t kSecurity = tag("SecD");
constexpr uint32_t kExtendedAttributes = tag("ExtA");
// The one context that has no name of four letters; its number is none of those.
constexpr std::string_view kAppInstanceName =
    "\x45\xBC\xA6\x6A\xEF\xA7\xF7\x4A\x90\x08\xFA\x46\x2E\x14\x4D\x74";
constexpr uint64_t kAppInstance = uint64_t{1} << 32;

constexpr size_t kDurableRequestBytes = 16;
constexpr size_t kDurableReplyBytes = 8;

struct Context {
  std::string_view name;
  std::string_view data;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> name_at;
    Whereabouts<uint16_t, uint32_t> data_at;
    io(name_at.offset, name_at.length);
    io.reserved(2);
    io(data_at.offset, data_at.length);
    io.placed(name_at, name);
    io.placed_or_none(data_at, data);
  }
};

// The whole of the data, once.
template <class T>
bool read_once(std::optional<T>& slot, std::string_view data) {
  if (slot) return false;
  Reader reader(data);
  reader(slot.emplace());
  return reader.ok() && reader.at_end();
}
bool read_once(std::optional<std::string_view>& slot, std::string_view data) {
  if (slot) return false;
  slot = data;
  return true;
}
bool read_once(std::optional<Lease>& slot, std::string_view data) {
  if (slot || (data.size() != Lease::kBytes1 && data.size() != Lease::kBytes2)) return false;
  slot.emplace().version2 = data.size() == Lease::kBytes2;
  Reader reader(data);
  reader(*slot);
  return reader.ok();
}
// A context that is there or not, with data of this size.
bool read_once(bool& slot, std::string_view data, size_t bytes) {
  if (slot || data.size() != bytes) return false;
  slot = true;
  return true;
}
bool read_once(std::optional<MaximalAccessRequest>& slot, std::string_view data) {
  if (slot) return false;
  slot.emplace();
  if (data.empty()) return true;
  Reader reader(data);
  reader(slot->timestamp);
  return reader.ok() && reader.at_end();
}

bool take(CreateContexts& contexts, uint64_t name, std::string_view data) {
  switch (name) {
    case kDurable:
      return read_once(contexts.durable, data, kDurableRequestBytes);
    case kReconnect:
      return read_once(contexts.reconnect, data);
    case kDurable2:
      return read_once(contexts.durable2, data);
    case kReconnect2:
      return read_once(contexts.reconnect2, data);
    case kLease:
      return read_once(contexts.lease, data);
    case kMaximalAccess:
      return read_once(contexts.maximal_access, data);
    case kOnDiskId:
      return read_once(contexts.on_disk_id, data, 0);
    case kAllocationSize:
      return read_once(contexts.allocation_size, data);
    case kSnapshot:
      return read_once(contexts.snapshot, data);
    case kSecurity:
      return read_once(contexts.security_descriptor, data);
    case kExtendedAttributes:
      return read_once(contexts.extended_attributes, data);
    case kAppInstance:
      return read_once(contexts.app_instance, data);
    default:
      return true;
  }
}

bool take(CreateReplyContexts& contexts, uint64_t name, std::string_view data) {
  switch (name) {
    case kDurable:
      return read_once(contexts.durable, data, kDurableReplyBytes);
    case kDurable2:
      return read_once(contexts.durable2, data);
    case kLease:
      return read_once(contexts.lease, data);
    case kMaximalAccess:
      return read_once(contexts.maximal_access, data);
    case kOnDiskId:
      return read_once(contexts.on_disk_id, data);
    default:
      return true;
  }
}

template <class Contexts>
Result<Contexts, Status> decode_all(std::string_view bytes) {
  Contexts contexts;
  ChainReader chain(bytes, kContextAlignment);
  for (size_t count = 0; const auto entry = chain.next(); ++count) {
    Reader reader(*entry, std::min(entry->size(), sizeof(uint32_t)));
    Context context;
    reader(context);
    if (!reader.ok() || count == kMaxCreateContexts) return Status::kInvalidParameter;
    uint32_t letters = 0;
    if (context.name.size() < sizeof letters) return Status::kInvalidParameter;
    if (context.name.size() == sizeof letters) Reader(context.name)(letters);
    const uint64_t name = context.name == kAppInstanceName ? kAppInstance : letters;
    if (!take(contexts, name, context.data)) return Status::kInvalidParameter;
  }
  if (!chain.ok()) return Status::kInvalidParameter;
  return contexts;
}

class ContextList {
 public:
  void add_bytes(std::string_view name, std::string_view data) {
    chain_.add([&](Writer& writer) { writer(Context{name, data}); });
  }
  void add_bytes(uint32_t name, std::string_view data) {
    add_bytes(std::string_view(reinterpret_cast<const char*>(&name), sizeof name), data);
  }
  template <class Name, class T>
  void add(const Name& name, const std::optional<T>& value) {
    if (!value) return;
    std::string data;
    append_fields(data, *value);
    add_bytes(name, data);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  ChainWriter chain_{out_, kContextAlignment, std::string::npos};
};

}  // namespace

Result<CreateContexts, Status> CreateContexts::decode(std::string_view bytes) {
  return decode_all<CreateContexts>(bytes);
}

Result<CreateReplyContexts, Status> CreateReplyContexts::decode(std::string_view bytes) {
  return decode_all<CreateReplyContexts>(bytes);
}

std::string CreateContexts::encode() const {
  ContextList list;
  if (durable) list.add_bytes(kDurable, std::string(kDurableRequestBytes, '\0'));
  list.add(kReconnect, reconnect);
  list.add(kDurable2, durable2);
  list.add(kReconnect2, reconnect2);
  list.add(kLease, lease);
  if (maximal_access && maximal_access->timestamp == 0) list.add_bytes(kMaximalAccess, {});
  if (maximal_access && maximal_access->timestamp != 0)
    list.add(kMaximalAccess, std::optional(maximal_access->timestamp));
  if (on_disk_id) list.add_bytes(kOnDiskId, {});
  list.add(kAllocationSize, allocation_size);
  list.add(kSnapshot, snapshot);
  if (security_descriptor) list.add_bytes(kSecurity, *security_descriptor);
  if (extended_attributes) list.add_bytes(kExtendedAttributes, *extended_attributes);
  list.add(kAppInstanceName, app_instance);
  return list.take();
}

std::string CreateReplyContexts::encode() const {
  ContextList list;
  if (durable) list.add_bytes(kDurable, std::string(kDurableReplyBytes, '\0'));
  list.add(kDurable2, durable2);
  list.add(kLease, lease);
  list.add(kMaximalAccess, maximal_access);
  list.add(kOnDiskId, on_disk_id);
  return list.take();
}

}  // namespace kyanite::smb
