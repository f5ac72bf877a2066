// SET_INFO: times, attributes, lengths, names, deletion and security descriptors.
#include <optional>
#include <utility>

#include "drive/access.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "drive/paths.h"
#include "drive/write_through.h"
#include "smb/info.h"
#include "smb/query.h"
#include "smb/times.h"
#include "tree/file_io.h"
#include "tree/handle_info.h"
#include "tree/open.h"

namespace kyanite::drive {

namespace {

using smb::FileClass;
using smb::Status;
namespace access = smb::access;

using Outcome = Task<Status>;

Status told(const tree::Result<void>& done) {
  return done ? Status::kSuccess : drive::status_of(done.error());
}

// Nothing for what is no time.
std::optional<tree::TimeOrder> time_order(int64_t wire) {
  using tree::TimeOrder;
  if (wire == smb::kKeepTime) return TimeOrder{TimeOrder::kKeep, {}};
  if (wire == smb::kFreezeTime) return TimeOrder{TimeOrder::kFreeze, {}};
  if (wire == smb::kThawTime) return TimeOrder{TimeOrder::kThaw, {}};
  // Later ones than REST can show are the last one.
  const auto time = smb::from_file_time(std::min(wire, smb::kLastFileTime));
  if (!time) return std::nullopt;
  return TimeOrder{TimeOrder::kSet, *time};
}

Outcome set_basic(Exchange& exchange, Open& open, std::string_view input) {
  if (!open.has(access::kWriteAttributes)) co_return Status::kAccessDenied;
  const auto info = smb::decode_info<smb::BasicInfo>(input);
  if (!info) co_return info.error();
  tree::BasicOrder order;
  const std::pair<int64_t, tree::TimeOrder*> times[] = {{info->times.creation, &order.created},
                                                        {info->times.access, &order.accessed},
                                                        {info->times.write, &order.written},
                                                        {info->times.change, &order.changed}};
  for (const auto& [wire, time] : times) {
    const auto asked = time_order(wire);
    if (!asked) co_return Status::kInvalidParameter;
    *time = *asked;
  }
  const uint32_t attributes = info->attributes;
  if (attributes != 0) {
    const bool directory = (attributes & smb::attribute::kDirectory) != 0;
    if (directory && !open.file.directory) co_return Status::kInvalidParameter;
    if (open.file.directory && (attributes & smb::attribute::kTemporary) != 0)
      co_return Status::kInvalidParameter;
    order.attributes = attributes & kStoredAttributes;
  }
  auto done = co_await tree::set_basic(exchange.occasion, open.file, order);
  co_return told(done);
}

template <class Info>
Outcome rename(Exchange& exchange, Open& open, std::string_view input) {
  const auto info = smb::decode_info<Info>(input);
  if (!info) co_return info.error();
  if (!open.has(access::kDelete)) co_return Status::kAccessDenied;
  if (info->root != 0) co_return Status::kInvalidParameter;
  if ((info->flags & smb::rename_flag::kPosix) != 0) co_return Status::kNotSupported;
  auto to = parse_wire_path(open.file.tree.names, info->name, true);
  if (!to) co_return to.error();
  if (to->path.empty()) co_return Status::kObjectNameInvalid;
  const bool replaces = (info->flags & smb::rename_flag::kReplace) != 0;
  auto may = co_await may_move_to(exchange.occasion, open.file, to->path, replaces);
  if (!may) co_return drive::status_of(may.error());
  if (!*may) co_return Status::kAccessDenied;
  auto done = co_await tree::rename_opened(exchange.occasion, open.file, to->path, replaces);
  co_return told(done);
}

Outcome set_deletion(Exchange& exchange, Open& open, bool pending, bool ignores_read_only) {
  if (!open.has(access::kDelete)) co_return Status::kAccessDenied;
  auto done =
      co_await tree::set_delete_pending(exchange.occasion, open.file, pending, ignores_read_only);
  co_return told(done);
}

Outcome set_disposition(Exchange& exchange, Open& open, std::string_view input) {
  const auto info = smb::decode_info<smb::DispositionInfo>(input);
  if (!info) co_return info.error();
  co_return co_await set_deletion(exchange, open, info->value, false);
}

Outcome set_disposition_ex(Exchange& exchange, Open& open, std::string_view input) {
  namespace flag = smb::disposition_flag;
  const auto info = smb::decode_info<smb::DispositionExInfo>(input);
  if (!info) co_return info.error();
  // Names that go before their last handle does are for another file system.
  if ((info->value & (flag::kPosix | flag::kOnClose)) != 0) co_return Status::kNotSupported;
  co_return co_await set_deletion(exchange, open, (info->value & flag::kDelete) != 0,
                                  (info->value & flag::kIgnoreReadOnly) != 0);
}

// What others have read of the file is about to be wrong.
Task<tree::Result<void>> end_caching(Open& open) {
  if (open.file.handle == 0) co_return tree::Result<void>();
  auto done =
      co_await open.file.tree.open_files->prepare(open.file.handle, concurrency::HandleUse::kWrite);
  if (!done) co_return tree::Error(done.error());
  co_return tree::Result<void>();
}

Outcome set_end(Exchange& exchange, Open& open, std::string_view input) {
  const auto info = smb::decode_info<smb::EndOfFileInfo>(input);
  if (!info) co_return info.error();
  if (!open.has(access::kWriteData)) co_return Status::kAccessDenied;
  if (open.file.directory || info->value > INT64_MAX) co_return Status::kInvalidParameter;
  if (auto flushed = co_await end_caching(open); !flushed) co_return told(flushed);
  open.allocation = 0;
  auto done = co_await tree::set_length(exchange.occasion, open.file, info->value);
  if (done) done = co_await write_through(exchange, open);
  co_return told(done);
}

// Room that is set aside is only remembered. Less than the file has cuts it off.
Outcome set_allocation(Exchange& exchange, Open& open, std::string_view input) {
  const auto info = smb::decode_info<smb::AllocationInfo>(input);
  if (!info) co_return info.error();
  if (!open.has(access::kWriteData)) co_return Status::kAccessDenied;
  if (open.file.directory || info->value > INT64_MAX) co_return Status::kInvalidParameter;
  if (info->value > tree::kMaxFileBytes) co_return Status::kDiskFull;
  if (auto flushed = co_await end_caching(open); !flushed) co_return told(flushed);
  auto state = co_await tree::state_of(exchange.occasion, open.file);
  if (!state) co_return drive::status_of(state.error());
  open.allocation = info->value;
  if (info->value >= length_of(*state)) co_return Status::kSuccess;
  auto done = co_await tree::set_length(exchange.occasion, open.file, info->value);
  if (done) done = co_await write_through(exchange, open);
  co_return told(done);
}

Status set_position(Open& open, std::string_view input) {
  const auto info = smb::decode_info<smb::PositionInfo>(input);
  if (!info) return info.error();
  open.position = info->value;
  return Status::kSuccess;
}

Status set_mode(Open& open, std::string_view input) {
  constexpr uint32_t kModes =
      smb::create_option::kWriteThrough | smb::create_option::kSequentialOnly |
      smb::create_option::kNoBuffering | smb::create_option::kSynchronousAlert |
      smb::create_option::kSynchronousNonalert;
  const auto info = smb::decode_info<smb::ModeInfo>(input);
  if (!info) return info.error();
  if ((info->value & ~kModes) != 0) return Status::kInvalidParameter;
  open.mode = info->value;
  return Status::kSuccess;
}

Outcome set_file(Exchange& exchange, Open& open, const smb::SetInfoRequest& request) {
  const std::string_view input = request.input;
  switch (static_cast<FileClass>(request.info_class)) {
    case FileClass::kBasic:
      return set_basic(exchange, open, input);
    case FileClass::kRename:
      return rename<smb::RenameInfo>(exchange, open, input);
    case FileClass::kRenameEx:
      return rename<smb::RenameExInfo>(exchange, open, input);
    case FileClass::kDisposition:
      return set_disposition(exchange, open, input);
    case FileClass::kDispositionEx:
      return set_disposition_ex(exchange, open, input);
    case FileClass::kEndOfFile:
      return set_end(exchange, open, input);
    case FileClass::kAllocation:
      return set_allocation(exchange, open, input);
    default:
      break;
  }
  auto at_once = [](Status status) -> Outcome { co_return status; };
  switch (static_cast<FileClass>(request.info_class)) {
    case FileClass::kPosition:
      return at_once(set_position(open, input));
    case FileClass::kMode:
      return at_once(set_mode(open, input));
    case FileClass::kFullEa:
      return at_once(Status::kEasNotSupported);
    case FileClass::kLink:
      return at_once(Status::kNotSupported);
    default:
      return at_once(Status::kInvalidInfoClass);
  }
}

Outcome set_security(Exchange& exchange, Open& open, const smb::SetInfoRequest& request) {
  namespace part = smb::security_part;
  const uint32_t asked = request.additional;
  if ((asked & (part::kOwner | part::kGroup)) != 0 && !open.has(access::kWriteOwner))
    co_return Status::kAccessDenied;
  if ((asked & part::kDacl) != 0 && !open.has(access::kWriteDac)) co_return Status::kAccessDenied;
  if ((asked & part::kSacl) != 0 && !open.has(access::kSystemSecurity))
    co_return Status::kAccessDenied;
  const tree::DescriptorParts parts{(asked & part::kOwner) != 0, (asked & part::kGroup) != 0,
                                    (asked & part::kDacl) != 0, (asked & part::kSacl) != 0};
  auto done = co_await tree::set_descriptor(exchange.occasion, open.file, request.input, parts);
  co_return told(done);
}

}  // namespace

Task<Reply> set_info(Exchange& exchange) {
  const auto request = smb::decode<smb::SetInfoRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  if (!exchange.may_change()) co_return refuse(exchange, Status::kFileNotAvailable);
  Status status = Status::kInvalidParameter;
  if (request->type == smb::InfoType::kFile) {
    status = co_await set_file(exchange, *open, *request);
  } else if (request->type == smb::InfoType::kSecurity) {
    status = co_await set_security(exchange, *open, *request);
  } else if (request->type == smb::InfoType::kVolume || request->type == smb::InfoType::kQuota) {
    status = Status::kNotSupported;
  }
  if (status != Status::kSuccess) co_return refuse(exchange, status);
  co_return reply(exchange, smb::SetInfoReply());
}

}  // namespace kyanite::drive
