// QUERY_INFO: what is known of a file, of the volume that it is on, and who may do what with it.
#include <utility>

#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "drive/volume.h"
#include "smb/info.h"
#include "smb/query.h"
#include "tree/handle_info.h"

namespace kyanite::drive {

namespace {

using smb::FileClass;
using smb::InfoOutput;
using smb::Status;
namespace access = smb::access;

// What a class needs of the open that it is asked of.
uint32_t needed_access(FileClass info_class) {
  switch (info_class) {
    case FileClass::kBasic:
    case FileClass::kAll:
    case FileClass::kNetworkOpen:
    case FileClass::kAttributeTag:
      return access::kReadAttributes;
    case FileClass::kFullEa:
      return access::kReadEa;
    default:
      return 0;
  }
}

// What the classes of one file are made of.
class FileInfo {
 public:
  FileInfo(const Open& open, const tree::Entry& entry, const smb::QueryInfoRequest& request)
      : open_(open), entry_(entry), most_(request.output_length) {}

  InfoOutput answer(FileClass info_class) const {
    switch (info_class) {
      case FileClass::kBasic:
        return fit(basic());
      case FileClass::kStandard:
        return fit(standard());
      case FileClass::kInternal:
        return fit(smb::InternalInfo{file_id_of(entry_.id)});
      case FileClass::kEa:
        return fit(smb::EaInfo{0});
      case FileClass::kAccess:
        return fit(smb::AccessInfo{open_.access});
      case FileClass::kName:
        return fit(name());
      case FileClass::kPosition:
        return fit(smb::PositionInfo{open_.position});
      case FileClass::kMode:
        return fit(smb::ModeInfo{open_.mode});
      case FileClass::kAlignment:
        return fit(smb::AlignmentInfo{0});
      case FileClass::kAll:
        return fit(all());
      case FileClass::kNormalizedName:
        return fit(smb::NormalizedNameInfo{wire_path(open_.file.path)});
      case FileClass::kAlternateName:
        if (open_.file.is_root()) return {Status::kObjectNameNotFound, {}};
        return fit(smb::AlternateNameInfo{alternate_name(entry_.name)});
      case FileClass::kFullEa:
        return {Status::kNoEasOnFile, {}};
      default:
        return answer_others(info_class);
    }
  }

 private:
  InfoOutput answer_others(FileClass info_class) const {
    switch (info_class) {
      case FileClass::kStream:
        if (entry_.directory) return {};
        return fit(smb::StreamInfo{length_of(entry_), allocation()});
      case FileClass::kCompression:
        return fit(smb::CompressionInfo{length_of(entry_)});
      case FileClass::kNetworkOpen:
        return fit(smb::NetworkOpenInfo{times_of(entry_), allocation(), length_of(entry_),
                                        attributes_of(entry_)});
      case FileClass::kAttributeTag:
        return fit(smb::AttributeTagInfo{attributes_of(entry_)});
      case FileClass::kId:
        return fit(smb::IdInfo{volume_id(open_.file.tree), file_id_of(entry_.id)});
      default:
        return {Status::kInvalidInfoClass, {}};
    }
  }

  template <class Info>
  InfoOutput fit(const Info& info) const {
    return smb::encode_info(info, most_);
  }
  uint64_t allocation() const { return allocation_of(entry_, open_.allocation); }
  smb::BasicInfo basic() const { return {times_of(entry_), attributes_of(entry_)}; }
  smb::StandardInfo standard() const {
    const bool pending =
        open_.file.handle != 0 && open_.file.tree.open_files->is_delete_pending(open_.file.file);
    return {allocation(), length_of(entry_), pending ? 0u : 1u, pending, entry_.directory};
  }
  smb::NameInfo name() const { return {"\\" + wire_path(open_.file.path)}; }
  smb::AllInfo all() const {
    return {basic(),
            standard(),
            {file_id_of(entry_.id)},
            {0},
            {open_.access},
            {open_.position},
            {open_.mode},
            {0},
            name()};
  }

  const Open& open_;
  const tree::Entry& entry_;
  const size_t most_;
};

Task<Result<InfoOutput, Status>> file_info(Exchange& exchange, Open& open,
                                           const smb::QueryInfoRequest& request) {
  const auto info_class = static_cast<FileClass>(request.info_class);
  if (!open.has(needed_access(info_class))) co_return Status::kAccessDenied;
  auto state = co_await tree::state_of(exchange.occasion, open.file);
  if (!state) co_return drive::status_of(state.error());
  co_return FileInfo(open, *state, request).answer(info_class);
}

Task<Result<InfoOutput, Status>> security(Exchange& exchange, Open& open,
                                          const smb::QueryInfoRequest& request) {
  namespace part = smb::security_part;
  const uint32_t asked = request.additional;
  const bool lists = (asked & (part::kOwner | part::kGroup | part::kDacl)) != 0;
  if (lists && !open.has(access::kReadControl)) co_return Status::kAccessDenied;
  if ((asked & part::kSacl) != 0 && !open.has(access::kSystemSecurity))
    co_return Status::kAccessDenied;
  auto state = co_await tree::state_of(exchange.occasion, open.file);
  if (!state) co_return drive::status_of(state.error());
  auto descriptor = co_await tree::descriptor_of(exchange.occasion, open.file.tree, *state);
  if (!descriptor) co_return drive::status_of(descriptor.error());
  const tree::DescriptorParts parts{(asked & part::kOwner) != 0, (asked & part::kGroup) != 0,
                                    (asked & part::kDacl) != 0, (asked & part::kSacl) != 0};
  InfoOutput output;
  output.bytes = tree::write_descriptor(*descriptor, parts);
  if (output.bytes.size() > request.output_length) output.status = Status::kBufferTooSmall;
  co_return output;
}

}  // namespace

Task<Reply> query_info(Exchange& exchange) {
  const auto request = smb::decode<smb::QueryInfoRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto open = exchange.find_open(request->file);
  if (open == nullptr) co_return refuse(exchange, Status::kFileClosed);
  Result<InfoOutput, Status> output = Status::kInvalidParameter;
  switch (request->type) {
    case smb::InfoType::kFile:
      output = co_await file_info(exchange, *open, *request);
      break;
    case smb::InfoType::kVolume:
      output = co_await volume_info(exchange, *open, *request);
      break;
    case smb::InfoType::kSecurity:
      output = co_await security(exchange, *open, *request);
      break;
    case smb::InfoType::kQuota:
      output = Status::kNotSupported;
      break;
  }
  if (!output) co_return refuse(exchange, output.error());
  if (output->status == Status::kBufferTooSmall) {
    const auto needed = static_cast<uint32_t>(output->bytes.size());
    co_return refuse(exchange, output->status,
                     {reinterpret_cast<const char*>(&needed), sizeof needed});
  }
  if (output->status != Status::kSuccess && output->status != Status::kBufferOverflow)
    co_return refuse(exchange, output->status);
  smb::OutputReply body;
  body.output = output->bytes;
  co_return reply(exchange, body, output->status);
}

}  // namespace kyanite::drive
