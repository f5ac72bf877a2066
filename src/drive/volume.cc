#include "drive/volume.h"

#include <algorithm>

#include "drive/connection.h"
#include "drive/file_facts.h"
#include "smb/times.h"

namespace kyanite::drive {

namespace {

using smb::InfoOutput;
using smb::Status;
using smb::VolumeClass;
namespace attribute = smb::volume_attribute;

constexpr auto kSectorsPerUnit = static_cast<uint32_t>(kClusterBytes / kSectorBytes);
constexpr uint32_t kPhysicalSectorBytes = 4096;
// Names of shares have up to 63, and whoever has less room is told BUFFER_OVERFLOW. NTFS knows
// labels of 32, and programs have room for that; but the Linux client has it for 16, and does
// without the serial number when they are more. The name itself is known to who has connected it.
constexpr size_t kMaxLabelCharacters = 16;

struct Room {
  uint64_t total = 0;
  uint64_t free = 0;
};

// As the quota of the share says, in clusters.
Room room_of(const Share& share) {
  const uint64_t used = std::min(share.tree.used_bytes(), share.quota_bytes);
  return {share.quota_bytes / kClusterBytes, (share.quota_bytes - used) / kClusterBytes};
}

smb::VolumeInfo volume(const Share& share) {
  smb::VolumeInfo info;
  info.creation = smb::to_file_time(share.tree.created);
  info.serial = static_cast<uint32_t>(volume_id(share.tree)) | 1;
  info.label = share.name.substr(0, kMaxLabelCharacters);
  return info;
}

smb::VolumeAttributeInfo attributes(const tree::Tree& tree) {
  smb::VolumeAttributeInfo info;
  info.attributes = attribute::kCasePreserved | attribute::kUnicode | attribute::kPersistentAcls |
                    (tree.shown ? attribute::kReadOnly : 0);
  info.max_name_length = static_cast<uint32_t>(tree.names.max_name);
  return info;
}

}  // namespace

uint64_t volume_id(const tree::Tree& tree) { return tree.space != 0 ? tree.space : 1; }

Task<Result<InfoOutput, Status>> volume_info(Exchange& exchange, Open& open,
                                             const smb::QueryInfoRequest& request) {
  // What the quota is now, not what it was when the share was connected.
  const Share& connected = open.tree->share;
  auto found = co_await exchange.connection.drive().shares.find(
      exchange.occasion, exchange.session->account(), connected.name);
  const Share& share = found && *found ? **found : connected;
  const size_t most = request.output_length;
  const Room room = room_of(share);
  switch (static_cast<VolumeClass>(request.info_class)) {
    case VolumeClass::kVolume:
      co_return smb::encode_info(volume(share), most);
    case VolumeClass::kSize:
      co_return smb::encode_info(
          smb::SizeInfo{room.total, room.free, kSectorsPerUnit, kSectorBytes}, most);
    case VolumeClass::kFullSize:
      co_return smb::encode_info(
          smb::FullSizeInfo{room.total, room.free, room.free, kSectorsPerUnit, kSectorBytes}, most);
    case VolumeClass::kDevice:
      co_return smb::encode_info(smb::DeviceInfo(), most);
    case VolumeClass::kAttribute:
      co_return smb::encode_info(attributes(open.file.tree), most);
    case VolumeClass::kSectorSize:
      co_return smb::encode_info(smb::SectorSizeInfo{kSectorBytes, kPhysicalSectorBytes,
                                                     kPhysicalSectorBytes, kPhysicalSectorBytes},
                                 most);
    case VolumeClass::kControl:
      co_return smb::encode_info(smb::VolumeControlInfo(), most);
    case VolumeClass::kObjectId:
      co_return smb::encode_info(smb::VolumeObjectIdInfo{volume_id(share.tree)}, most);
  }
  co_return Status::kInvalidInfoClass;
}

}  // namespace kyanite::drive
