// What the numbers of SMB2 and SMB3 mean, and their names for logs. The large tables are in
// status.def and numbers.def; enumerations hold whatever number a peer sent, known or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kyanite::smb {

// Contexts of NEGOTIATE and CREATE begin at multiples of this.
inline constexpr size_t kContextAlignment = 8;

enum class Status : uint32_t {
#define KYANITE_SMB_STATUS(symbol, name, number) symbol = number,
#include "smb/status.def"
#undef KYANITE_SMB_STATUS
};

enum class Command : uint16_t {
#define KYANITE_SMB_COMMAND(symbol, name, number) symbol = number,
#include "smb/numbers.def"
};

enum class Dialect : uint16_t {
  kNone = 0,
#define KYANITE_SMB_DIALECT(symbol, name, number) symbol = number,
#include "smb/numbers.def"
};

// What QUERY_INFO, SET_INFO and QUERY_DIRECTORY say about files.
enum class FileClass : uint8_t {
#define KYANITE_SMB_FILE_CLASS(symbol, name, number) symbol = number,
#include "smb/numbers.def"
};

// What QUERY_INFO says about the volume, which is a share.
enum class VolumeClass : uint8_t {
#define KYANITE_SMB_VOLUME_CLASS(symbol, name, number) symbol = number,
#include "smb/numbers.def"
};

// What IOCTL asks for.
enum class Control : uint32_t {
#define KYANITE_SMB_CONTROL(symbol, name, number, refusal) symbol = number,
#include "smb/numbers.def"
};

namespace access {
#define KYANITE_SMB_ACCESS(symbol, name, bit) inline constexpr uint32_t symbol = bit;
#include "smb/numbers.def"
}  // namespace access

namespace attribute {
#define KYANITE_SMB_ATTRIBUTE(symbol, name, bit) inline constexpr uint32_t symbol = bit;
#include "smb/numbers.def"
}  // namespace attribute

namespace create_option {
#define KYANITE_SMB_CREATE_OPTION(symbol, name, bit) inline constexpr uint32_t symbol = bit;
#include "smb/numbers.def"
}  // namespace create_option

// For logs; unknown numbers are in hex.
std::string name(Status status);
std::string name(Command command);
std::string name(Dialect dialect);
std::string name(FileClass file_class);
std::string name(VolumeClass volume_class);
std::string name(Control control);
// All bits that are set, with "|" in between; what has no name is in hex.
std::string access_names(uint32_t access);
std::string attribute_names(uint32_t attributes);
std::string create_option_names(uint32_t options);

// What a control that is not served is answered with; kSuccess for those that are.
Status refusal_of(Control control);

// GENERIC_READ and its like stand for these.
inline constexpr uint32_t kGenericAllMeans = 0x001F01FF;
inline constexpr uint32_t kGenericExecuteMeans = 0x001200A0;
inline constexpr uint32_t kGenericWriteMeans = 0x00120116;
inline constexpr uint32_t kGenericReadMeans = 0x00120089;

namespace header_flag {
inline constexpr uint32_t kReply = 0x1;  // SERVER_TO_REDIR
inline constexpr uint32_t kAsync = 0x2;
inline constexpr uint32_t kRelated = 0x4;
inline constexpr uint32_t kSigned = 0x8;
inline constexpr uint32_t kPriorityMask = 0x70;
inline constexpr uint32_t kDfs = 0x10000000;
inline constexpr uint32_t kReplay = 0x20000000;
}  // namespace header_flag

namespace security_mode {
inline constexpr uint16_t kSigningEnabled = 1;
inline constexpr uint16_t kSigningRequired = 2;
}  // namespace security_mode

namespace capability {
inline constexpr uint32_t kDfs = 0x01;
inline constexpr uint32_t kLeasing = 0x02;
inline constexpr uint32_t kLargeMtu = 0x04;
inline constexpr uint32_t kMultiChannel = 0x08;
inline constexpr uint32_t kPersistentHandles = 0x10;
inline constexpr uint32_t kDirectoryLeasing = 0x20;
inline constexpr uint32_t kEncryption = 0x40;
inline constexpr uint32_t kNotifications = 0x80;
}  // namespace capability

enum class PreauthHashId : uint16_t { kSha512 = 1 };
enum class CipherId : uint16_t { kNone = 0, kCcm128 = 1, kGcm128 = 2, kCcm256 = 3, kGcm256 = 4 };
enum class SigningId : uint16_t { kHmacSha256 = 0, kCmac = 1, kGmac = 2 };

namespace session_flag {
inline constexpr uint8_t kBinding = 1;  // Of the request.
inline constexpr uint16_t kGuest = 1;   // Of the reply, as the following.
inline constexpr uint16_t kNull = 2;
inline constexpr uint16_t kEncryptData = 4;
}  // namespace session_flag

enum class ShareType : uint8_t { kDisk = 1, kPipe = 2, kPrint = 3 };

namespace share_flag {
inline constexpr uint32_t kManualCaching = 0x00;
inline constexpr uint32_t kAutoCaching = 0x10;
inline constexpr uint32_t kVdoCaching = 0x20;
inline constexpr uint32_t kNoCaching = 0x30;
inline constexpr uint32_t kAccessBasedEnumeration = 0x800;
inline constexpr uint32_t kForceLevel2Oplock = 0x1000;
inline constexpr uint32_t kEncryptData = 0x8000;
}  // namespace share_flag

namespace share_capability {
inline constexpr uint32_t kDfs = 0x08;
inline constexpr uint32_t kContinuousAvailability = 0x10;
inline constexpr uint32_t kScaleOut = 0x20;
inline constexpr uint32_t kCluster = 0x40;
inline constexpr uint32_t kAsymmetric = 0x80;
}  // namespace share_capability

namespace share_access {
inline constexpr uint32_t kRead = 1;
inline constexpr uint32_t kWrite = 2;
inline constexpr uint32_t kDelete = 4;
}  // namespace share_access

enum class OplockLevel : uint8_t {
  kNone = 0x00,
  kLevel2 = 0x01,
  kExclusive = 0x08,
  kBatch = 0x09,
  kLease = 0xFF,
};

namespace lease_state {
inline constexpr uint32_t kRead = 1;
inline constexpr uint32_t kHandle = 2;
inline constexpr uint32_t kWrite = 4;
}  // namespace lease_state

namespace lease_flag {
inline constexpr uint32_t kAckRequired = 1;  // Of a break notification.
inline constexpr uint32_t kBreakInProgress = 2;
inline constexpr uint32_t kParentKeySet = 4;
}  // namespace lease_flag

inline constexpr uint32_t kDurableFlagPersistent = 2;

enum class Disposition : uint32_t {
  kSupersede = 0,
  kOpen = 1,
  kCreate = 2,
  kOpenIf = 3,
  kOverwrite = 4,
  kOverwriteIf = 5,
};

enum class CreateAction : uint32_t { kSuperseded = 0, kOpened = 1, kCreated = 2, kOverwritten = 3 };

inline constexpr uint32_t kMaxImpersonation = 3;

namespace lock_flag {
inline constexpr uint32_t kShared = 0x01;
inline constexpr uint32_t kExclusive = 0x02;
inline constexpr uint32_t kUnlock = 0x04;
inline constexpr uint32_t kFailImmediately = 0x10;
}  // namespace lock_flag

inline constexpr uint16_t kCloseQueryAttributes = 1;  // POSTQUERY_ATTRIB
inline constexpr uint32_t kWriteFlagThrough = 1;
inline constexpr uint32_t kWriteFlagUnbuffered = 2;
inline constexpr uint32_t kIoctlFlagFsctl = 1;

namespace query_directory_flag {
inline constexpr uint8_t kRestart = 0x01;
inline constexpr uint8_t kSingle = 0x02;
inline constexpr uint8_t kIndex = 0x04;
inline constexpr uint8_t kReopen = 0x10;
}  // namespace query_directory_flag

inline constexpr uint16_t kWatchTree = 1;

namespace notify_filter {
inline constexpr uint32_t kFileName = 0x001;
inline constexpr uint32_t kDirectoryName = 0x002;
inline constexpr uint32_t kAttributes = 0x004;
inline constexpr uint32_t kSize = 0x008;
inline constexpr uint32_t kLastWrite = 0x010;
inline constexpr uint32_t kLastAccess = 0x020;
inline constexpr uint32_t kCreation = 0x040;
inline constexpr uint32_t kEa = 0x080;
inline constexpr uint32_t kSecurity = 0x100;
}  // namespace notify_filter

enum class NotifyAction : uint32_t {
  kAdded = 1,
  kRemoved = 2,
  kModified = 3,
  kRenamedOld = 4,
  kRenamedNew = 5,
};

enum class InfoType : uint8_t { kFile = 1, kVolume = 2, kSecurity = 3, kQuota = 4 };

// Which parts of a security descriptor are meant.
namespace security_part {
inline constexpr uint32_t kOwner = 1;
inline constexpr uint32_t kGroup = 2;
inline constexpr uint32_t kDacl = 4;
inline constexpr uint32_t kSacl = 8;
}  // namespace security_part

namespace disposition_flag {  // Of FileDispositionInformationEx.
inline constexpr uint32_t kDelete = 0x01;
inline constexpr uint32_t kPosix = 0x02;
inline constexpr uint32_t kForceImageCheck = 0x04;
inline constexpr uint32_t kOnClose = 0x08;
inline constexpr uint32_t kIgnoreReadOnly = 0x10;
}  // namespace disposition_flag

namespace rename_flag {  // Of FileRenameInformationEx.
inline constexpr uint32_t kReplace = 1;
inline constexpr uint32_t kPosix = 2;
}  // namespace rename_flag

namespace volume_attribute {
inline constexpr uint32_t kCaseSensitiveSearch = 0x01;
inline constexpr uint32_t kCasePreserved = 0x02;
inline constexpr uint32_t kUnicode = 0x04;
inline constexpr uint32_t kPersistentAcls = 0x08;
inline constexpr uint32_t kReadOnly = 0x80000;
}  // namespace volume_attribute

}  // namespace kyanite::smb
