#include "tree/sddl.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/bytes.h"

namespace kyanite::tree {

namespace {

constexpr std::string_view kNullList = "NO_ACCESS_CONTROL";

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

constexpr Word<uint8_t> kTypes[] = {{"A", 0}, {"D", 1}, {"AU", 2}, {"AL", 3}, {"ML", 0x11}};

constexpr Word<uint8_t> kAceFlags[] = {{"OI", 0x01}, {"CI", 0x02}, {"NP", 0x04}, {"IO", 0x08},
                                       {"ID", 0x10}, {"SA", 0x40}, {"FA", 0x80}};

// Those that combine several bits come first, so that writing prefers them.
constexpr Word<uint32_t> kRights[] = {
    {"FA", 0x1f01ff},   {"FR", 0x120089},   {"FW", 0x120116},   {"FX", 0x1200a0},
    {"GA", 0x10000000}, {"GX", 0x20000000}, {"GW", 0x40000000}, {"GR", 0x80000000},
    {"SD", 0x010000},   {"RC", 0x020000},   {"WD", 0x040000},   {"WO", 0x080000},
    {"CC", 0x0001},     {"DC", 0x0002},     {"LC", 0x0004},     {"SW", 0x0008},
    {"RP", 0x0010},     {"WP", 0x0020},     {"DT", 0x0040},     {"LO", 0x0080},
    {"CR", 0x0100},     {"NW", 0x0001},     {"NR", 0x0002},     {"NX", 0x0004},
};

struct Alias {
  std::string_view text;
  uint64_t authority;
  uint32_t first;
  uint32_t second;  // 0: only one
};
constexpr Alias kAliases[] = {
    {"WD", 1, 0, 0},     {"CO", 3, 0, 0},      {"CG", 3, 1, 0},      {"OW", 3, 4, 0},
    {"NU", 5, 2, 0},     {"IU", 5, 4, 0},      {"SU", 5, 6, 0},      {"AN", 5, 7, 0},
    {"ED", 5, 9, 0},     {"PS", 5, 10, 0},     {"AU", 5, 11, 0},     {"RC", 5, 12, 0},
    {"SY", 5, 18, 0},    {"LS", 5, 19, 0},     {"NS", 5, 20, 0},     {"WR", 5, 33, 0},
    {"BA", 5, 32, 544},  {"BU", 5, 32, 545},   {"BG", 5, 32, 546},   {"PU", 5, 32, 547},
    {"AO", 5, 32, 548},  {"SO", 5, 32, 549},   {"PO", 5, 32, 550},   {"BO", 5, 32, 551},
    {"RE", 5, 32, 552},  {"RU", 5, 32, 554},   {"RD", 5, 32, 555},   {"NO", 5, 32, 556},
    {"MU", 5, 32, 558},  {"LU", 5, 32, 559},   {"IS", 5, 32, 568},   {"CY", 5, 32, 569},
    {"ER", 5, 32, 573},  {"CD", 5, 32, 574},   {"AC", 15, 2, 1},     {"LW", 16, 4096, 0},
    {"ME", 16, 8192, 0}, {"HI", 16, 12288, 0}, {"SI", 16, 16384, 0},
};

Sid sid_of(const Alias& alias) {
  Sid sid{alias.authority, {alias.first}};
  if (alias.second != 0) sid.subauthorities.push_back(alias.second);
  return sid;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<Sid> take_sid(std::string_view& text) {
  if (take(text, "S-1-")) {
    auto authority =
        take(text, "0x") ? take_number<uint64_t>(text, 16) : take_number<uint64_t>(text);
    if (!authority || *authority >> 48 != 0) return std::nullopt;
    Sid sid{*authority, {}};
    while (take(text, "-")) {
      const auto number = take_number<uint32_t>(text);
      if (!number || sid.subauthorities.size() == kMaxSubauthorities) return std::nullopt;
      sid.subauthorities.push_back(*number);
    }
    if (sid.subauthorities.empty()) return std::nullopt;
    return sid;
  }
  for (const Alias& alias : kAliases) {
    if (take(text, alias.text)) return sid_of(alias);
  }
  return std::nullopt;
}

// Words one after the other, each adding its bits, until nothing is left.
template <class Value, size_t kCount>
std::optional<Value> parse_words(std::string_view text, const Word<Value> (&words)[kCount]) {
  Value bits = 0;
  while (!text.empty()) {
    const auto word = std::find_if(std::begin(words), std::end(words),
                                   [&](const auto& each) { return text.starts_with(each.text); });
    if (word == std::end(words)) return std::nullopt;
    bits = static_cast<Value>(bits | word->value);
    text.remove_prefix(word->text.size());
  }
  return bits;
}

std::optional<uint32_t> parse_rights(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text[0] < '0' || text[0] > '9') return parse_words(text, kRights);
  const auto bits = take(text, "0x") || take(text, "0X") ? take_number<uint32_t>(text, 16)
                                                         : take_number<uint32_t>(text);
  if (!text.empty()) return std::nullopt;
  return bits;
}

// "type;flags;rights;;;trustee"
std::optional<Ace> parse_ace(std::string_view text) {
  std::string_view parts[6];
  for (size_t i = 0; i < std::size(parts); ++i) {
    const size_t end = text.find(';');
    if ((end == std::string_view::npos) != (i == 5)) return std::nullopt;
    parts[i] = text.substr(0, end);
    text.remove_prefix(i == 5 ? text.size() : end + 1);
  }
  if (!parts[3].empty() || !parts[4].empty()) return std::nullopt;
  Ace ace;
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                 [&](const auto& each) { return each.text == parts[0]; });
  const auto flags = parse_words(parts[1], kAceFlags);
  const auto rights = parse_rights(parts[2]);
  auto trustee = take_sid(parts[5]);
  if (type == std::end(kTypes) || !flags || !rights || !trustee || !parts[5].empty())
    return std::nullopt;
  return Ace{type->value, *flags, *rights, std::move(*trustee)};
}

// The flags of a list: protected, inheritance asked for, inherited. As bits of the discretionary
// list; those of the other one are their doubles.
uint16_t take_list_flags(std::string_view& text) {
  uint16_t bits = 0;
  while (true) {
    if (take(text, "P")) {
      bits |= kDaclProtected;
    } else if (take(text, "AR")) {
      bits |= kDaclInheritRequired;
    } else if (take(text, "AI")) {
      bits |= kDaclInherited;
    } else {
      return bits;
    }
  }
}

std::optional<Acl> take_entries(std::string_view& text) {
  Acl acl;
  acl.null = take(text, kNullList);
  if (acl.null) return acl;
  while (take(text, "(")) {
    const size_t end = text.find(')');
    if (end == std::string_view::npos) return std::nullopt;
    auto ace = parse_ace(text.substr(0, end));
    if (!ace) return std::nullopt;
    acl.entries.push_back(std::move(*ace));
    text.remove_prefix(end + 1);
  }
  return acl;
}

void append_sid(std::string& out, const Sid& sid) {
  for (const Alias& alias : kAliases) {
    if (sid_of(alias) == sid) {
      out += alias.text;
      return;
    }
  }
  out += "S-1-";
  append_uint(out, sid.authority);
  for (const uint32_t number : sid.subauthorities) {
    out += '-';
    append_uint(out, number);
  }
}

void append_rights(std::string& out, uint32_t rights) {
  for (const auto& word : kRights) {
    if (word.value == rights) {
      out += word.text;
      return;
    }
  }
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof(digits), rights, 16).ptr;
  out.append("0x").append(digits, end);
}

void append_list(std::string& out, char tag, uint16_t flags, const Acl& acl) {
  out += tag;
  out += ':';
  if ((flags & kDaclProtected) != 0) out += 'P';
  if ((flags & kDaclInheritRequired) != 0) out += "AR";
  if ((flags & kDaclInherited) != 0) out += "AI";
  if (acl.null) out += kNullList;
  for (const Ace& ace : acl.entries) {
    out += '(';
    for (const auto& type : kTypes) {
      if (type.value == ace.type) out += type.text;
    }
    out += ';';
    for (const auto& flag : kAceFlags) {
      if ((ace.flags & flag.value) != 0) out += flag.text;
    }
    out += ';';
    append_rights(out, ace.rights);
    out += ";;;";
    append_sid(out, ace.trustee);
    out += ')';
  }
}

}  // namespace

std::optional<SecurityDescriptor> parse_sddl(std::string_view text) {
  SecurityDescriptor descriptor;
  if (text.size() > kMaxSddlBytes || !take(text, "O:")) return std::nullopt;
  auto owner = take_sid(text);
  if (!owner || !take(text, "G:")) return std::nullopt;
  auto group = take_sid(text);
  if (!group || !take(text, "D:")) return std::nullopt;
  descriptor.owner = std::move(*owner);
  descriptor.group = std::move(*group);
  descriptor.control = take_list_flags(text);
  auto dacl = take_entries(text);
  if (!dacl) return std::nullopt;
  descriptor.dacl = std::move(*dacl);
  if (take(text, "S:")) {
    descriptor.control |= static_cast<uint16_t>(take_list_flags(text) << 1);
    descriptor.sacl = take_entries(text);
    if (!descriptor.sacl) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return descriptor;
}

std::string write_sddl(const SecurityDescriptor& descriptor) {
  std::string out = "O:";
  append_sid(out, descriptor.owner);
  out += "G:";
  append_sid(out, descriptor.group);
  append_list(out, 'D', descriptor.control, descriptor.dacl);
  if (descriptor.sacl)
    append_list(out, 'S', static_cast<uint16_t>(descriptor.control >> 1), *descriptor.sacl);
  return out;
}

}  // namespace kyanite::tree
