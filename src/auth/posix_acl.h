// POSIX access control of files and directories, as Data Lake Storage Gen2 has it: owner, group,
// permissions and lists of entries; their text in `x-ms-acl`, `x-ms-permissions` and `x-ms-umask`;
// how they are changed, and what new files and directories get. Pure. posix_access.h says who may
// do what by them.
//
// Where the documentation is silent, changes to lists follow HDFS, whose lists these are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kyanite::auth::posix {

// A set of these three.
using Bits = uint8_t;
inline constexpr Bits kRead = 4;
inline constexpr Bits kWrite = 2;
inline constexpr Bits kExecute = 1;
inline constexpr Bits kAllBits = 7;

// Who everything belongs to that was made with an account's key or a shared access signature.
inline constexpr std::string_view kSuperuser = "$superuser";

// Of a list, counting the entries of owner, group, mask and others as well.
inline constexpr size_t kMaxEntries = 32;
inline constexpr size_t kMaxIdBytes = 256;

// An object id, or whatever else clients call users and groups. Compared without regard to the case
// of ASCII letters.
struct Named {
  std::string id;
  Bits bits = 0;
  bool operator==(const Named&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(1, id);
    io(2, bits);
  }
};

// One list: what the classes of callers may do.
struct List {
  Bits user = 0;   // the owner
  Bits group = 0;  // members of the owning group
  Bits other = 0;
  std::optional<Bits> mask;  // limits all but owner and others; there wherever somebody is named
  std::vector<Named> users;
  std::vector<Named> groups;
  bool operator==(const List&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(1, user);
    io(2, group);
    io(3, other);
    io(4, mask);
    io(5, users);
    io(6, groups);
  }

  size_t size() const { return 3 + (mask ? 1 : 0) + users.size() + groups.size(); }
};

// All that is said about access to one file or directory.
struct AccessControl {
  std::string owner{kSuperuser};
  std::string group{kSuperuser};
  bool sticky = false;
  List access;
  std::optional<List> defaults;  // what is made in this directory begins with these
  bool operator==(const AccessControl&) const = default;
  template <class Io>
  void fields(Io& io) {
    io(1, owner);
    io(2, group);
    io(3, sticky);
    io(4, access);
    io(5, defaults);
  }
};

// The nine bits and the sticky bit: what chmod sets.
struct Permissions {
  Bits user = 0;
  Bits group = 0;
  Bits other = 0;
  bool sticky = false;
  bool operator==(const Permissions&) const = default;
};

// Three characters, each a letter of `rwx` in its place or '-': the bits of an entry, and what
// Check Access asks for.
std::optional<Bits> parse_bits(std::string_view text);

// x-ms-permissions: `rwxr-x--T`, perhaps with the '+' that replies have, or octal `1750`. Nothing
// if it is neither, which is InvalidPermission.
std::optional<Permissions> parse_permissions(std::string_view text);
// x-ms-umask: four octal digits, the first of them 0.
std::optional<Permissions> parse_umask(std::string_view text);
// As replies show them: the group has the mask's bits where there is one, and a '+' follows where
// there is more than these bits.
std::string print_permissions(const AccessControl& control);

// One entry of x-ms-acl.
struct Entry {
  enum class Kind { kUser, kGroup, kMask, kOther };
  bool is_default = false;
  Kind kind = Kind::kUser;
  std::string id;  // empty: the owner or the owning group
  Bits bits = 0;
  bool operator==(const Entry&) const = default;
};

// What is wrong with a list. All of it is InvaldAccessControlList to clients.
enum class AclFault {
  kMalformed,
  kDuplicate,
  kTooMany,
  kIncomplete,     // owner, group or others are missing
  kMaskNeeded,     // it cannot be removed while somebody is named
  kDefaultOnFile,  // files have no default entries
};

// How a list of entries changes what is there.
enum class Edit {
  // Set Access Control: of default entries nothing stays; of the others all where none is given,
  // else what is not said of owner, group and others.
  kReplace,
  kSet,  // recursive, mode=set: nothing of the list, access or default, of which entries are given
  kModify,  // recursive, mode=modify: entries are added or get other bits
  kRemove,  // recursive, mode=remove: entries, written without bits, go away
};

// x-ms-acl: `[default:]user|group|mask|other:[id]:rwx`, separated by commas; for kRemove without
// the bits, and with or without the colon before an id that is not there. No text is no entries.
Result<std::vector<Entry>, AclFault> parse_entries(std::string_view text, Edit edit);
// As replies show it: owner, users, group, groups, mask, others, and then the default entries.
std::string print_acl(const AccessControl& control);

// No entries change nothing. The mask is what the entries say; where they do not and something of
// its list changes, it becomes all that is granted to those it limits. Recursive edits leave out
// default entries where they meet a file.
Result<AccessControl, AclFault> edited(const AccessControl& old, Edit edit,
                                       const std::vector<Entry>& entries, bool is_directory);

// chmod: where there is a mask it gets the group's bits, and the group keeps its own.
void set_permissions(AccessControl& control, const Permissions& permissions);

// The root of a file system made by `creator`.
AccessControl new_root(std::string_view creator);

struct Birth {
  bool is_directory = false;
  std::string_view creator = kSuperuser;
  std::optional<Permissions> permissions = std::nullopt;  // if the client gave some
  std::optional<Permissions> umask = std::nullopt;
};
// What a new file or directory in `parent` gets: its group, and either what its default list says,
// without rights for others and within the permissions, or permissions less umask. A list that the
// client gave comes after, by edited() with kReplace.
AccessControl born(const AccessControl& parent, const Birth& birth);

bool same_id(std::string_view a, std::string_view b);

}  // namespace kyanite::auth::posix
