#include "auth/sas_form.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "auth/failure.h"
#include "base/bytes.h"

namespace kyanite::auth {

namespace {
constexpr size_t kMaxLetters = 32;
constexpr size_t kMaxDate = 64;
constexpr size_t kMaxId = 64;
constexpr size_t kMaxVersion = 16;
constexpr size_t kMaxReplyHeader = 2048;
constexpr size_t kMaxKey = 2048;  // 512 characters of UTF-16, in UTF-8
constexpr size_t kMaxNameList = 1024;

// By the length of their names, so that most comparisons are saved. The last two are no parameters
// of a token, but a token for a snapshot or version signs their values.
constexpr SasParameter kParameters[] = {
    {"sv", kMaxVersion},
    {"ss", kMaxLetters},
    {"sp", kMaxLetters},
    {"sr", kMaxLetters},
    {"st", kMaxDate},
    {"se", kMaxDate},
    {"si", 256},  // 64 characters
    {"tn", 256},
    {"sig", 64},
    {"srt", kMaxLetters},
    {"spr", kMaxLetters},
    {"sip", 128},
    {"ses", 128},
    {"sdd", 8},
    {"skt", kMaxDate},
    {"ske", kMaxDate},
    {"sks", kMaxLetters},
    {"skv", kMaxVersion},
    {"srh", kMaxNameList},
    {"srq", kMaxNameList},
    {"spk", kMaxKey},
    {"srk", kMaxKey},
    {"epk", kMaxKey},
    {"erk", kMaxKey},
    {"rscc", kMaxReplyHeader},
    {"rscd", kMaxReplyHeader},
    {"rsce", kMaxReplyHeader},
    {"rscl", kMaxReplyHeader},
    {"rsct", kMaxReplyHeader},
    {"scid", kMaxId},
    {"skoid", kMaxId},
    {"sktid", kMaxId},
    {"saoid", kMaxId},
    {"suoid", kMaxId},
    {"sduoid", kMaxId},
    {"skdutid", kMaxId},
    {"snapshot", kMaxDate},
    {"versionid", kMaxDate},
};
static_assert(std::size(kParameters) <= 64);  // One bit each.
static_assert(std::is_sorted(std::begin(kParameters), std::end(kParameters),
                             [](const SasParameter& a, const SasParameter& b) {
                               return a.name.size() < b.name.size();
                             }));

// Its place in the table, or nothing.
std::optional<size_t> find_parameter(std::string_view name) {
  for (size_t i = 0; i < std::size(kParameters); ++i) {
    const std::string_view known = kParameters[i].name;
    if (known.size() > name.size()) break;
    if (known.size() == name.size() && equals_ignoring_case(known, name)) return i;
  }
  return {};
}

// No name twice either: each stands for a value that is signed.
bool is_name_list(std::string_view list) {
  std::array<std::string_view, kMaxSignedNames> names;
  size_t count = 0;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view name = trim(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (name.empty()) continue;
    const auto end = names.begin() + static_cast<ptrdiff_t>(count);
    const bool known = std::any_of(names.begin(), end, [&](std::string_view other) {
      return equals_ignoring_case(name, other);
    });
    if (known || count == kMaxSignedNames) return false;
    names[count++] = name;
  }
  return true;
}
}  // namespace

std::span<const SasParameter> sas_parameters() { return kParameters; }

wire::Result<void> check_sas_form(const wire::Query& query) {
  uint64_t seen = 0;
  for (const auto& [name, value] : query) {
    const auto at = find_parameter(name);
    if (!at) continue;
    const uint64_t bit = uint64_t{1} << *at;
    const std::string_view known = kParameters[*at].name;
    if ((seen & bit) != 0)
      return authentication_failed(std::string(known) + " is given more than once");
    if (value.size() > kParameters[*at].max_bytes)
      return authentication_failed(std::string(known) + " is too long");
    if ((known == "srh" || known == "srq") && !is_name_list(value))
      return authentication_failed(kNotWellFormed);
    seen |= bit;
  }
  return {};
}

}  // namespace kyanite::auth
