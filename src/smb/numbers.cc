#include "smb/numbers.h"

#include <span>

namespace kyanite::smb {

namespace {

struct Named {
  uint32_t number;
  std::string_view name;
};

constexpr Named kStatuses[] = {
#define KYANITE_SMB_STATUS(symbol, name, number) {number, #name},
#include "smb/status.def"
#undef KYANITE_SMB_STATUS
};
constexpr Named kCommands[] = {
#define KYANITE_SMB_COMMAND(symbol, name, number) {number, #name},
#include "smb/numbers.def"
};
constexpr Named kDialects[] = {
#define KYANITE_SMB_DIALECT(symbol, name, number) {number, name},
#include "smb/numbers.def"
};
constexpr Named kFileClasses[] = {
#define KYANITE_SMB_FILE_CLASS(symbol, name, number) {number, #name},
#include "smb/numbers.def"
};
constexpr Named kVolumeClasses[] = {
#define KYANITE_SMB_VOLUME_CLASS(symbol, name, number) {number, #name},
#include "smb/numbers.def"
};
constexpr Named kControls[] = {
#define KYANITE_SMB_CONTROL(symbol, name, number, refusal) {number, #name},
#include "smb/numbers.def"
};
constexpr Named kAccess[] = {
#define KYANITE_SMB_ACCESS(symbol, name, bit) {bit, #name},
#include "smb/numbers.def"
};
constexpr Named kAttributes[] = {
#define KYANITE_SMB_ATTRIBUTE(symbol, name, bit) {bit, #name},
#include "smb/numbers.def"
};
constexpr Named kCreateOptions[] = {
#define KYANITE_SMB_CREATE_OPTION(symbol, name, bit) {bit, #name},
#include "smb/numbers.def"
};

constexpr bool is_ascending(std::span<const Named> table) {
  for (size_t i = 1; i < table.size(); ++i) {
    if (table[i - 1].number >= table[i].number) return false;
  }
  return true;
}
static_assert(is_ascending(kStatuses) && is_ascending(kCommands) && is_ascending(kFileClasses) &&
              is_ascending(kVolumeClasses) && is_ascending(kAccess) && is_ascending(kAttributes) &&
              is_ascending(kCreateOptions));

std::string in_hex(uint32_t number) {
  std::string text = "0x";
  bool begun = false;
  for (int shift = 28; shift >= 0; shift -= 4) {
    const uint32_t digit = number >> shift & 15;
    begun |= digit != 0 || shift == 0;
    if (begun) text += "0123456789abcdef"[digit];
  }
  return text;
}

template <class Enum>
std::string name_in(std::span<const Named> table, Enum value) {
  const auto number = static_cast<uint32_t>(value);
  for (const Named& row : table) {
    if (row.number == number) return std::string(row.name);
  }
  return in_hex(number);
}

std::string bit_names(std::span<const Named> table, uint32_t bits) {
  std::string text;
  const auto add = [&](std::string_view bit) {
    if (!text.empty()) text += '|';
    text += bit;
  };
  for (const Named& row : table) {
    if ((bits & row.number) == 0) continue;
    add(row.name);
    bits &= ~row.number;
  }
  if (bits != 0 || text.empty()) add(in_hex(bits));
  return text;
}

}  // namespace

std::string name(Status status) { return name_in(kStatuses, status); }
std::string name(Command command) { return name_in(kCommands, command); }
std::string name(Dialect dialect) { return name_in(kDialects, dialect); }
std::string name(FileClass file_class) { return name_in(kFileClasses, file_class); }
std::string name(VolumeClass volume_class) { return name_in(kVolumeClasses, volume_class); }
std::string name(Control control) { return name_in(kControls, control); }
std::string access_names(uint32_t access) { return bit_names(kAccess, access); }
std::string attribute_names(uint32_t attributes) { return bit_names(kAttributes, attributes); }
std::string create_option_names(uint32_t options) { return bit_names(kCreateOptions, options); }

Status refusal_of(Control control) {
  switch (control) {
#define KYANITE_SMB_CONTROL(symbol, name, number, refusal) \
  case Control::symbol:                                    \
    return Status::refusal;
#include "smb/numbers.def"
  }
  return Status::kInvalidDeviceRequest;
}

}  // namespace kyanite::smb
