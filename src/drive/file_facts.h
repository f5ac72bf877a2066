// Entries of a tree as SMB tells of them.
#pragma once

#include <string>

#include "drive/open.h"
#include "smb/create.h"
#include "smb/directory.h"
#include "tree/records.h"

namespace kyanite::drive {

// What a volume counts its room in.
inline constexpr uint64_t kClusterBytes = 4096;
inline constexpr uint32_t kSectorBytes = 512;

// Of files alone; those that clients can ask for.
inline constexpr uint32_t kStoredAttributes = 0x3127;

smb::FileTimes times_of(const tree::Entry& entry);
uint32_t attributes_of(const tree::Entry& entry);
uint64_t length_of(const tree::Entry& entry);
uint64_t allocation_of(const tree::Entry& entry, uint64_t asked = 0);
// Never 0, which clients take for none.
uint64_t file_id_of(tree::EntryId id);

// A name of eight and three letters. No file is found by it: it is for those who take it for an
// error when there is none, as smbclient does, whose allinfo tells nothing of a file then.
std::string alternate_name(const std::string& name);

smb::DirectoryEntry directory_entry(const tree::Entry& entry, std::string name);

// From the root of the share, with \ between its parts and none in front.
std::string wire_path(const std::string& path);

}  // namespace kyanite::drive
