// CREATE: opening files and directories, and the contexts that say more about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "smb/fields.h"
#include "smb/numbers.h"

namespace kyanite::smb {

// What an open is called by its client. The persistent part survives a lost connection.
struct FileId {
  uint64_t persistent_id = 0;
  uint64_t volatile_id = 0;
  bool operator==(const FileId&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(persistent_id, volatile_id);
  }
};
// In a related message: what the message before opened.
inline constexpr FileId kPreviousFile{UINT64_MAX, UINT64_MAX};

// FILETIMEs: ticks since 1601. smb/times.h
struct FileTimes {
  int64_t creation = 0;
  int64_t access = 0;
  int64_t write = 0;
  int64_t change = 0;
  bool operator==(const FileTimes&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(creation, access, write, change);
  }
};

struct CreateRequest {
  static constexpr uint16_t kStructureSize = 57;
  OplockLevel oplock = OplockLevel::kNone;
  uint32_t impersonation = 0;
  uint32_t desired_access = 0;
  uint32_t attributes = 0;
  uint32_t share_access = 0;
  Disposition disposition = Disposition::kSupersede;
  uint32_t options = 0;
  std::string name;           // From the root of the share; with \ between its parts.
  std::string_view contexts;  // For CreateContexts::decode().
  bool operator==(const CreateRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint16_t, uint16_t> name_at;
    Whereabouts<uint32_t, uint32_t> contexts_at;
    io.reserved(1);
    io(oplock, impersonation);
    io.reserved(16);
    io(desired_access, attributes, share_access, disposition, options, name_at.offset,
       name_at.length, contexts_at.offset, contexts_at.length);
    io.placed_text(name_at, name);
    io.placed_or_none(contexts_at, contexts);
  }
};

struct CreateReply {
  static constexpr uint16_t kStructureSize = 89;
  OplockLevel oplock = OplockLevel::kNone;
  uint8_t flags = 0;
  CreateAction action = CreateAction::kOpened;
  FileTimes times;
  uint64_t allocation_size = 0;
  uint64_t end_of_file = 0;
  uint32_t attributes = 0;
  FileId file;
  std::string_view contexts;  // From CreateReplyContexts::encode().
  bool operator==(const CreateReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    Whereabouts<uint32_t, uint32_t> contexts_at;
    io(oplock, flags, action, times, allocation_size, end_of_file, attributes);
    io.reserved(4);
    io(file, contexts_at.offset, contexts_at.length);
    io.placed_or_none(contexts_at, contexts);
  }
};

// RqLs, in both directions. Version 2 has a parent and an epoch.
struct Lease {
  bool version2 = false;
  Guid key{};
  uint32_t state = 0;
  uint32_t flags = 0;
  Guid parent_key{};
  uint16_t epoch = 0;
  bool operator==(const Lease&) const = default;

  static constexpr size_t kBytes1 = 32;
  static constexpr size_t kBytes2 = 52;
  template <class Io>
  void fields(Io& io) {
    io(key, state, flags);
    io.reserved(8);
    if (!version2) return;
    io(parent_key, epoch);
    io.reserved(2);
  }
};

// DH2Q
struct DurableRequest {
  uint32_t timeout_ms = 0;
  uint32_t flags = 0;
  Guid create_guid{};
  bool operator==(const DurableRequest&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(timeout_ms, flags);
    io.reserved(8);
    io(create_guid);
  }
};
struct DurableReply {
  uint32_t timeout_ms = 0;
  uint32_t flags = 0;
  bool operator==(const DurableReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(timeout_ms, flags);
  }
};

// DH2C
struct DurableReconnect {
  FileId file;
  Guid create_guid{};
  uint32_t flags = 0;
  bool operator==(const DurableReconnect&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(file, create_guid, flags);
  }
};

// What a program that moves from machine to machine calls itself.
struct AppInstance {
  Guid id{};
  bool operator==(const AppInstance&) const = default;

  template <class Io>
  void fields(Io& io) {
    io.constant(uint16_t{20});  // Its size.
    io.reserved(2);
    io(id);
  }
};

// MxAc
struct MaximalAccessRequest {
  int64_t timestamp = 0;  // If it is that of the last write, nobody needs an answer; 0: answer.
  bool operator==(const MaximalAccessRequest&) const = default;
};
struct MaximalAccessReply {
  Status status = Status::kSuccess;
  uint32_t access = 0;
  bool operator==(const MaximalAccessReply&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(status, access);
  }
};

// QFid
struct OnDiskId {
  uint64_t file_id = 0;
  uint64_t volume_id = 0;
  bool operator==(const OnDiskId&) const = default;

  template <class Io>
  void fields(Io& io) {
    io(file_id, volume_id);
    io.reserved(16);
  }
};

// What a request asks for in its contexts. Views point into it.
struct CreateContexts {
  bool durable = false;                                 // DHnQ
  std::optional<FileId> reconnect;                      // DHnC
  std::optional<DurableRequest> durable2;               // DH2Q
  std::optional<DurableReconnect> reconnect2;           // DH2C
  std::optional<Lease> lease;                           // RqLs
  std::optional<MaximalAccessRequest> maximal_access;   // MxAc
  bool on_disk_id = false;                              // QFid
  std::optional<uint64_t> allocation_size;              // AlSi
  std::optional<int64_t> snapshot;                      // TWrp, a FILETIME
  std::optional<std::string_view> security_descriptor;  // SecD, self-relative
  std::optional<std::string_view> extended_attributes;  // ExtA
  std::optional<AppInstance> app_instance;
  bool operator==(const CreateContexts&) const = default;

  // INVALID_PARAMETER for lists or data that are not well-formed, and for what comes twice; unknown
  // contexts (AAPL) are read over.
  static Result<CreateContexts, Status> decode(std::string_view bytes);
  std::string encode() const;
};
inline constexpr size_t kMaxCreateContexts = 64;

struct CreateReplyContexts {
  bool durable = false;
  std::optional<DurableReply> durable2;
  std::optional<Lease> lease;
  std::optional<MaximalAccessReply> maximal_access;
  std::optional<OnDiskId> on_disk_id;
  bool operator==(const CreateReplyContexts&) const = default;

  static Result<CreateReplyContexts, Status> decode(std::string_view bytes);
  std::string encode() const;
};

}  // namespace kyanite::smb
