#include "sql/timestamp.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/bytes.h"

namespace kyanite::sql {

namespace {

namespace chrono = std::chrono;

constexpr int64_t kTicksPerMinute = 60 * kTicksPerSecond;
constexpr int64_t kTicksPerHour = 60 * kTicksPerMinute;
constexpr int64_t kTicksPerDay = 24 * kTicksPerHour;
constexpr int64_t kEpochDays = kUnixEpochTicks / kTicksPerDay;
constexpr int64_t kEndTicks = (kEpochDays + 2'932'897) * kTicksPerDay;  // of the year 9999
constexpr int kMaxOffsetMinutes = 14 * 60;

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

struct Civil {
  int year = 1;
  unsigned month = 1;
  unsigned day = 1;
  int64_t ticks = 0;  // of the day
};

std::optional<int64_t> ticks_of(const Civil& civil) {
  const chrono::year_month_day date{chrono::year(civil.year), chrono::month(civil.month),
                                    chrono::day(civil.day)};
  if (civil.year < 1 || civil.year > 9999 || !date.ok()) return {};
  const int64_t days = chrono::sys_days(date).time_since_epoch().count() + kEpochDays;
  return days * kTicksPerDay + civil.ticks;
}

// As the clock showed it that it was read from.
Civil civil_of(const Timestamp& at) {
  int64_t ticks = at.time.ticks + at.offset_minutes * kTicksPerMinute;
  // An offset may lead out of the calendar at its very ends.
  if (ticks < 0 || ticks >= kEndTicks) ticks = at.time.ticks;
  const chrono::sys_days days{chrono::days(ticks / kTicksPerDay - kEpochDays)};
  const chrono::year_month_day date(days);
  return {static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()), ticks % kTicksPerDay};
}

std::optional<Timestamp> from_civil(const Civil& civil, int offset_minutes) {
  const auto local = ticks_of(civil);
  if (!local) return {};
  const int64_t ticks = *local - offset_minutes * kTicksPerMinute;
  if (ticks < 0 || ticks >= kEndTicks) return {};
  return Timestamp{Time{ticks}, offset_minutes};
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool digits(size_t count, unsigned& value) {
    if (rest_.size() < count) return false;
    const auto parsed = parse_uint(rest_.substr(0, count));
    if (!parsed) return false;
    value = static_cast<unsigned>(*parsed);
    rest_.remove_prefix(count);
    return true;
  }
  // Up to nine digits as ticks; further ones than seven are cut off.
  bool fraction(int64_t& ticks) {
    int64_t unit = kTicksPerSecond;
    size_t count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
      unit /= 10;
      ticks += (rest_.front() - '0') * unit;
      rest_.remove_prefix(1);
    }
    return count >= 1 && count <= 9;
  }

 private:
  std::string_view rest_;
};

bool scan_zone(Scanner& scanner, int& minutes) {
  if (scanner.done() || scanner.accept('Z') || scanner.accept('z')) return true;
  const bool minus = scanner.accept('-');
  if (!minus && !scanner.accept('+')) return false;
  unsigned hour = 0;
  unsigned minute = 0;
  if (!scanner.digits(2, hour)) return false;
  scanner.accept(':');
  if (!scanner.done() && !scanner.digits(2, minute)) return false;
  minutes = static_cast<int>(hour * 60 + minute);
  if (minute > 59 || minutes > kMaxOffsetMinutes) return false;
  if (minus) minutes = -minutes;
  return true;
}

bool scan_clock(Scanner& scanner, Civil& civil) {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int64_t fraction = 0;
  if (!scanner.digits(2, hour) || !scanner.accept(':') || !scanner.digits(2, minute)) return false;
  if (scanner.accept(':')) {
    if (!scanner.digits(2, second)) return false;
    if ((scanner.accept('.') || scanner.accept(',')) && !scanner.fraction(fraction)) return false;
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  civil.ticks =
      hour * kTicksPerHour + minute * kTicksPerMinute + second * kTicksPerSecond + fraction;
  return true;
}

int64_t months_of(const Civil& civil) { return civil.year * int64_t{12} + civil.month - 1; }

std::optional<Timestamp> add_months(int64_t months, const Timestamp& at) {
  constexpr int64_t kMost = 12 * 10000;
  if (months > kMost || months < -kMost) return {};
  Civil civil = civil_of(at);
  const int64_t sum = months_of(civil) + months;
  if (sum < 12) return {};
  civil.year = static_cast<int>(sum / 12);
  civil.month = static_cast<unsigned>(sum % 12) + 1;
  const chrono::year_month_day_last last{chrono::year(civil.year),
                                         chrono::month_day_last(chrono::month(civil.month))};
  civil.day = std::min(civil.day, static_cast<unsigned>(last.day()));
  return from_civil(civil, at.offset_minutes);
}

// The difference in months, of which the last one counts only if its day and hour are reached.
int64_t whole_months(const Timestamp& from, const Timestamp& to) {
  if (to.time < from.time) return -whole_months(to, from);
  const Civil start = civil_of({from.time, 0});
  const Civil end = civil_of({to.time, 0});
  const bool reached = end.day != start.day ? end.day > start.day : end.ticks >= start.ticks;
  return months_of(end) - months_of(start) - (reached ? 0 : 1);
}

int64_t ticks_per(DatePart part) {
  if (part == DatePart::kDay) return kTicksPerDay;
  if (part == DatePart::kHour) return kTicksPerHour;
  if (part == DatePart::kMinute) return kTicksPerMinute;
  return kTicksPerSecond;
}

std::string padded(int64_t value, size_t width) {
  std::string digits = std::to_string(value);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

std::string zone_text(int minutes, bool with_minutes, std::string_view between) {
  const int size = minutes < 0 ? -minutes : minutes;
  std::string text = minutes < 0 ? "-" : "+";
  text += padded(size / 60, 2);
  if (with_minutes) text.append(between).append(padded(size % 60, 2));
  return text;
}

std::optional<std::string> format_zone(char letter, size_t count, int minutes) {
  if (count > 5) return {};
  if (count == 1) {
    if (letter == 'X') return zone_text(minutes, false, "");
    return std::to_string(minutes / 60);
  }
  return zone_text(minutes, true, count == 3 || count == 5 ? ":" : "");
}

std::optional<std::string> format_month(unsigned month, size_t count) {
  const std::string_view name = kMonths.at(month - 1);
  if (count <= 2) return padded(month, count);
  if (count == 4) return std::string(name);
  if (count != 3) return {};
  std::string upper(name.substr(0, 3));
  for (char& c : upper) {
    if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

std::optional<std::string> format_letter(const Timestamp& at, char letter, size_t count) {
  const Civil civil = civil_of(at);
  const int64_t hour = civil.ticks / kTicksPerHour;
  const auto number = [&](int64_t value) -> std::optional<std::string> {
    if (count > 2) return {};
    return padded(value, count);
  };
  switch (letter) {
    case 'y':
      if (count == 2) return padded(civil.year % 100, 2);
      if (count != 1 && count != 4) return {};
      return padded(civil.year, 4);
    case 'M':
      return format_month(civil.month, count);
    case 'd':
      return number(civil.day);
    case 'a':
      return count == 1 ? std::optional<std::string>(hour < 12 ? "AM" : "PM") : std::nullopt;
    case 'h':
      return number(hour % 12 == 0 ? 12 : hour % 12);
    case 'H':
      return number(hour);
    case 'm':
      return number(civil.ticks / kTicksPerMinute % 60);
    case 's':
      return number(civil.ticks / kTicksPerSecond % 60);
    case 'S':
      if (count > 3) return {};
      return padded(civil.ticks % kTicksPerSecond, 7).substr(0, count);
    case 'X':
    case 'x':
      return format_zone(letter, count, at.offset_minutes);
    default:
      return {};
  }
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<DatePart> parse_date_part(std::string_view text) {
  static constexpr struct {
    std::string_view name;
    DatePart part;
  } kParts[] = {{"year", DatePart::kYear},
                {"month", DatePart::kMonth},
                {"day", DatePart::kDay},
                {"hour", DatePart::kHour},
                {"minute", DatePart::kMinute},
                {"second", DatePart::kSecond},
                {"timezone_hour", DatePart::kZoneHour},
                {"timezone_minute", DatePart::kZoneMinute}};
  for (const auto& candidate : kParts) {
    if (equals_ignoring_case(text, candidate.name)) return candidate.part;
  }
  return {};
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  Scanner scanner(trim(text));
  Civil civil;
  int offset = 0;
  unsigned year = 0;
  if (!scanner.digits(4, year)) return {};
  civil.year = static_cast<int>(year);
  if (scanner.accept('-') && !scanner.digits(2, civil.month)) return {};
  if (scanner.accept('-') && !scanner.digits(2, civil.day)) return {};
  const bool has_time = scanner.accept('T') || scanner.accept('t') || scanner.accept(' ');
  if (has_time && !scanner.done()) {
    if (!scan_clock(scanner, civil) || !scan_zone(scanner, offset)) return {};
  }
  if (!scanner.done()) return {};
  return from_civil(civil, offset);
}

std::string to_text(const Timestamp& at) {
  const Civil civil = civil_of(at);
  std::string text = padded(civil.year, 4);
  text.append("-").append(padded(civil.month, 2)).append("-").append(padded(civil.day, 2));
  text.append("T").append(padded(civil.ticks / kTicksPerHour, 2));
  text.append(":").append(padded(civil.ticks / kTicksPerMinute % 60, 2));
  text.append(":").append(padded(civil.ticks / kTicksPerSecond % 60, 2));
  if (const int64_t fraction = civil.ticks % kTicksPerSecond; fraction != 0) {
    std::string digits = padded(fraction, 7);
    while (digits.back() == '0') digits.pop_back();
    text.append(".").append(digits);
  }
  if (at.offset_minutes == 0) return text.append("Z");
  return text.append(zone_text(at.offset_minutes, true, ":"));
}

std::optional<Timestamp> date_add(DatePart part, int64_t quantity, const Timestamp& at) {
  if (part == DatePart::kYear || part == DatePart::kMonth) {
    int64_t months = 0;
    if (__builtin_mul_overflow(quantity, part == DatePart::kYear ? 12 : 1, &months)) return {};
    return add_months(months, at);
  }
  int64_t ticks = 0;
  if (__builtin_mul_overflow(quantity, ticks_per(part), &ticks)) return {};
  if (__builtin_add_overflow(ticks, at.time.ticks, &ticks)) return {};
  if (ticks < 0 || ticks >= kEndTicks) return {};
  return Timestamp{Time{ticks}, at.offset_minutes};
}

int64_t date_diff(DatePart part, const Timestamp& from, const Timestamp& to) {
  if (part == DatePart::kMonth) return whole_months(from, to);
  if (part == DatePart::kYear) return whole_months(from, to) / 12;
  return (to.time.ticks - from.time.ticks) / ticks_per(part);
}

int64_t extract(DatePart part, const Timestamp& at) {
  const Civil civil = civil_of(at);
  switch (part) {
    case DatePart::kYear:
      return civil.year;
    case DatePart::kMonth:
      return civil.month;
    case DatePart::kDay:
      return civil.day;
    case DatePart::kHour:
      return civil.ticks / kTicksPerHour;
    case DatePart::kMinute:
      return civil.ticks / kTicksPerMinute % 60;
    case DatePart::kSecond:
      return civil.ticks / kTicksPerSecond % 60;
    case DatePart::kZoneHour:
      return at.offset_minutes / 60;
    case DatePart::kZoneMinute:
      return at.offset_minutes % 60;
  }
  return 0;
}

std::optional<std::string> format(const Timestamp& at, std::string_view format) {
  std::string out;
  while (!format.empty()) {
    const char c = format.front();
    if (c == '\'') {
      const size_t end = format.find('\'', 1);
      if (end == std::string_view::npos) return {};
      out += end == 1 ? std::string_view("'") : format.substr(1, end - 1);
      format.remove_prefix(end + 1);
      continue;
    }
    size_t count = 1;
    if (is_letter(c)) {
      while (count < format.size() && format[count] == c) ++count;
      const auto part = format_letter(at, c, count);
      if (!part) return {};
      out += *part;
    } else {
      out += c;
    }
    format.remove_prefix(count);
  }
  return out;
}

}  // namespace kyanite::sql
