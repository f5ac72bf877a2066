// The text forms of permissions and lists.
#include <algorithm>
#include <array>

#include "auth/posix_acl.h"
#include "base/bytes.h"

namespace kyanite::auth::posix {

namespace {
constexpr std::string_view kDefaultScope = "default:";
constexpr size_t kSymbolicLength = 9;
constexpr size_t kOctalLength = 4;

struct KindName {
  std::string_view name;
  Entry::Kind kind;
};
constexpr KindName kKinds[] = {{"user", Entry::Kind::kUser},
                               {"group", Entry::Kind::kGroup},
                               {"mask", Entry::Kind::kMask},
                               {"other", Entry::Kind::kOther}};

void append_bits(std::string& out, Bits bits) {
  out += bits & kRead ? 'r' : '-';
  out += bits & kWrite ? 'w' : '-';
  out += bits & kExecute ? 'x' : '-';
}

std::optional<Permissions> parse_octal(std::string_view text) {
  std::array<Bits, kOctalLength> digits;
  for (size_t i = 0; i < kOctalLength; ++i) {
    if (text[i] < '0' || text[i] > '7') return std::nullopt;
    digits[i] = static_cast<Bits>(text[i] - '0');
  }
  // The first could also set the ids of users and groups, which do not exist here.
  if (digits[0] > 1) return std::nullopt;
  return Permissions{digits[1], digits[2], digits[3], digits[0] == 1};
}

std::optional<Permissions> parse_symbolic(std::string_view text) {
  std::string last(text.substr(6));
  const bool sticky = last[2] == 't' || last[2] == 'T';
  if (sticky) last[2] = last[2] == 't' ? 'x' : '-';
  const auto user = parse_bits(text.substr(0, 3));
  const auto group = parse_bits(text.substr(3, 3));
  const auto other = parse_bits(last);
  if (!user || !group || !other) return std::nullopt;
  return Permissions{*user, *group, *other, sticky};
}

bool is_id(std::string_view text) {
  return text.size() <= kMaxIdBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::optional<Entry> parse_entry(std::string_view text, bool with_bits) {
  Entry entry;
  if (text.starts_with(kDefaultScope)) {
    entry.is_default = true;
    text.remove_prefix(kDefaultScope.size());
  }
  const auto colon = std::min(text.find(':'), text.size());
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& row) {
    return row.name == text.substr(0, colon);
  });
  if (kind == std::end(kKinds)) return std::nullopt;
  entry.kind = kind->kind;
  text.remove_prefix(std::min(colon + 1, text.size()));
  if (with_bits) {
    const auto end = text.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    const auto bits = parse_bits(text.substr(end + 1));
    if (!bits) return std::nullopt;
    entry.bits = *bits;
    text = text.substr(0, end);
  }
  if (!is_id(text) || text.find(':') != std::string_view::npos) return std::nullopt;
  const bool can_name = entry.kind == Entry::Kind::kUser || entry.kind == Entry::Kind::kGroup;
  if (!can_name && !text.empty()) return std::nullopt;
  entry.id = text;
  return entry;
}

bool same_place(const Entry& a, const Entry& b) {
  return a.is_default == b.is_default && a.kind == b.kind && same_id(a.id, b.id);
}

void append_entry(std::string& out, std::string_view scope, std::string_view kind,
                  std::string_view id, Bits bits) {
  if (!out.empty()) out += ',';
  out += scope;
  out += kind;
  out += ':';
  out += id;
  out += ':';
  append_bits(out, bits);
}

void append_list(std::string& out, std::string_view scope, const List& list) {
  append_entry(out, scope, "user", "", list.user);
  for (const auto& named : list.users) append_entry(out, scope, "user", named.id, named.bits);
  append_entry(out, scope, "group", "", list.group);
  for (const auto& named : list.groups) append_entry(out, scope, "group", named.id, named.bits);
  if (list.mask) append_entry(out, scope, "mask", "", *list.mask);
  append_entry(out, scope, "other", "", list.other);
}
}  // namespace

std::optional<Bits> parse_bits(std::string_view text) {
  constexpr std::string_view kLetters = "rwx";
  if (text.size() != kLetters.size()) return std::nullopt;
  Bits bits = 0;
  for (size_t i = 0; i < kLetters.size(); ++i) {
    if (text[i] == kLetters[i]) {
      bits = static_cast<Bits>(bits | kRead >> i);
    } else if (text[i] != '-') {
      return std::nullopt;
    }
  }
  return bits;
}

bool same_id(std::string_view a, std::string_view b) { return equals_ignoring_case(a, b); }

std::optional<Permissions> parse_permissions(std::string_view text) {
  if (text.size() == kOctalLength) return parse_octal(text);
  if (text.size() == kSymbolicLength + 1 && text.back() == '+') text.remove_suffix(1);
  if (text.size() == kSymbolicLength) return parse_symbolic(text);
  return std::nullopt;
}

std::optional<Permissions> parse_umask(std::string_view text) {
  if (text.size() != kOctalLength || text.front() != '0') return std::nullopt;
  return parse_octal(text);
}

std::string print_permissions(const AccessControl& control) {
  std::string out;
  append_bits(out, control.access.user);
  append_bits(out, control.access.mask.value_or(control.access.group));
  append_bits(out, control.access.other);
  if (control.sticky) out.back() = control.access.other & kExecute ? 't' : 'T';
  if (control.access.mask || control.defaults) out += '+';
  return out;
}

Result<std::vector<Entry>, AclFault> parse_entries(std::string_view text, Edit edit) {
  std::vector<Entry> entries;
  while (!text.empty()) {
    if (entries.size() == 2 * kMaxEntries) return AclFault::kTooMany;
    const auto comma = text.find(',');
    auto entry = parse_entry(text.substr(0, comma), edit != Edit::kRemove);
    if (!entry) return AclFault::kMalformed;
    if (std::any_of(entries.begin(), entries.end(),
                    [&](const Entry& other) { return same_place(other, *entry); })) {
      return AclFault::kDuplicate;
    }
    entries.push_back(std::move(*entry));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return AclFault::kMalformed;
  }
  return entries;
}

std::string print_acl(const AccessControl& control) {
  std::string out;
  append_list(out, "", control.access);
  if (control.defaults) append_list(out, kDefaultScope, *control.defaults);
  return out;
}

}  // namespace kyanite::auth::posix
