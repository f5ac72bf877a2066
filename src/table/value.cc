#include "table/value.h"

#include <charconv>
#include <limits>

#include "base/bytes.h"
#include "concurrency/guid.h"

namespace kyanite::table {

namespace {
constexpr std::string_view kNames[] = {"",           "Edm.String",  "Edm.Int32",    "Edm.Int64",
                                       "Edm.Double", "Edm.Boolean", "Edm.DateTime", "Edm.Guid",
                                       "Edm.Binary"};
constexpr int64_t kFirstTicks = 504'911'232'000'000'000;  // 1601-01-01
constexpr int64_t kEndTicks = 3'155'378'976'000'000'000;  // 10000-01-01

bool is_numeric(Edm type) {
  return type == Edm::kInt32 || type == Edm::kInt64 || type == Edm::kDouble;
}

// Every int64_t and every double is exact in 64 bits of mantissa.
static_assert(std::numeric_limits<long double>::digits >= 64);
long double exact(const Value& value) {
  return value.type == Edm::kDouble ? static_cast<long double>(value.real)
                                    : static_cast<long double>(value.number);
}
}  // namespace

std::string_view name(Edm type) { return kNames[static_cast<size_t>(type)]; }

std::optional<Edm> parse_edm(std::string_view text) {
  for (size_t i = 1; i < std::size(kNames); ++i) {
    if (text == kNames[i]) return static_cast<Edm>(i);
  }
  return {};
}

std::partial_ordering compare(const Value& a, const Value& b) {
  if (is_numeric(a.type) && is_numeric(b.type)) {
    if (a.type != Edm::kDouble && b.type != Edm::kDouble) return a.number <=> b.number;
    return exact(a) <=> exact(b);
  }
  if (a.type != b.type) return std::partial_ordering::unordered;
  switch (a.type) {
    case Edm::kString:
    case Edm::kBinary:
    case Edm::kGuid:
      return a.bytes <=> b.bytes;
    case Edm::kBoolean:
    case Edm::kDateTime:
    case Edm::kInt32:
    case Edm::kInt64:
    case Edm::kDouble:
      return a.number <=> b.number;
  }
  return std::partial_ordering::unordered;
}

std::optional<std::string> parse_guid_bytes(std::string_view text) {
  auto dashed = concurrency::parse_guid(text);
  if (!dashed) return {};
  std::erase(*dashed, '-');
  return unhex(*dashed);
}

std::string guid_text(std::string_view bytes) {
  std::string text = hex(bytes);
  for (const size_t position : {8U, 13U, 18U, 23U}) text.insert(position, 1, '-');
  return text;
}

std::optional<Time> parse_date_time(std::string_view text) {
  const auto time = wire::parse_iso_date(text);
  if (!time || time->ticks < kFirstTicks || time->ticks >= kEndTicks) return {};
  return time;
}

wire::DateText date_time_text(Time time) {
  const auto whole = wire::iso_date(time);
  std::string_view text = whole.view().substr(0, whole.view().size() - 1);  // without the Z
  while (text.back() == '0') text.remove_suffix(1);
  if (text.back() == '.') text.remove_suffix(1);
  return wire::DateText().append(text).append('Z');
}

std::optional<double> parse_double(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "INF") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-INF") return -std::numeric_limits<double>::infinity();
  if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string_view::npos)
    return {};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace kyanite::table
