#include "wire/date.h"

#include <array>

namespace kyanite::wire {

namespace {
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

struct Civil {
  int64_t year = 1;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Days since 0001-01-01 in the proleptic Gregorian calendar (Howard Hinnant's days_from_civil,
// shifted).
int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 306;
}

Civil civil(Time time) {
  const int64_t seconds = time.seconds();
  int64_t days = seconds / 86400 + 306;
  const int64_t in_day = seconds % 86400;
  const int64_t era = days / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  Civil out;
  out.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  out.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  out.hour = static_cast<int>(in_day / 3600);
  out.minute = static_cast<int>(in_day / 60 % 60);
  out.second = static_cast<int>(in_day % 60);
  return out;
}

int days_in_month(int64_t year, int month) {
  static constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kLengths[month - 1];
}

std::optional<Time> to_time(const Civil& c) {
  if (c.year < 1 || c.year > 9999 || c.month < 1 || c.month > 12 || c.day < 1 ||
      c.day > days_in_month(c.year, c.month))
    return {};
  if (c.hour > 23 || c.minute > 59 || c.second > 59) return {};
  const int64_t seconds =
      days_from_civil(c.year, c.month, c.day) * 86400 + c.hour * 3600 + c.minute * 60 + c.second;
  return Time{seconds * kTicksPerSecond};
}

// Reads fixed shapes: digits, literals, words.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool failed() const { return failed_; }
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  int digits(size_t least, size_t most) {
    int value = 0;
    size_t count = 0;
    while (count < most && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
      ++count;
    }
    if (count < least) failed_ = true;
    return value;
  }
  void literal(std::string_view text) {
    if (rest_.substr(0, text.size()) != text) {
      failed_ = true;
      return;
    }
    rest_.remove_prefix(text.size());
  }
  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  int month() {
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (rest_.substr(0, 3) == kMonths[i]) {
        rest_.remove_prefix(3);
        return static_cast<int>(i) + 1;
      }
    }
    failed_ = true;
    return 0;
  }
  void skip_word() {
    while (!rest_.empty() && ((rest_.front() | 32) >= 'a' && (rest_.front() | 32) <= 'z'))
      rest_.remove_prefix(1);
  }
  void clock(Civil& out) {
    out.hour = digits(2, 2);
    literal(":");
    out.minute = digits(2, 2);
    literal(":");
    out.second = digits(2, 2);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

uint64_t digits_of(int64_t value) { return static_cast<uint64_t>(value); }

void append_clock(DateText& out, const Civil& c) {
  out.append_digits(digits_of(c.hour), 2).append(':');
  out.append_digits(digits_of(c.minute), 2).append(':');
  out.append_digits(digits_of(c.second), 2);
}

std::optional<Time> finish(const Scanner& in, const Civil& c) {
  if (in.failed() || !in.done()) return {};
  return to_time(c);
}
}  // namespace

DateText http_date(Time time) {
  const Civil c = civil(time);
  DateText out;
  out.append(kDays[static_cast<size_t>(time.seconds() / 86400 % 7)]).append(", ");
  out.append_digits(digits_of(c.day), 2).append(' ');
  out.append(kMonths[static_cast<size_t>(c.month - 1)]).append(' ');
  out.append_digits(digits_of(c.year), 4).append(' ');
  append_clock(out, c);
  return out.append(" GMT");
}

std::optional<Time> parse_http_date(std::string_view text) {
  Scanner in(text);
  Civil c;
  in.skip_word();
  if (in.accept(',')) {
    in.literal(" ");
    c.day = in.digits(1, 2);
    if (in.accept('-')) {  // RFC 850: Friday, 12-Aug-22
      c.month = in.month();
      in.literal("-");
      c.year = in.digits(2, 2);
      c.year += c.year < 70 ? 2000 : 1900;
    } else {
      in.literal(" ");
      c.month = in.month();
      in.literal(" ");
      c.year = in.digits(4, 4);
    }
    in.literal(" ");
    in.clock(c);
    in.literal(" GMT");
    return finish(in, c);
  }
  // asctime: Fri Aug 12 20:54:02 2022
  in.literal(" ");
  c.month = in.month();
  in.literal(" ");
  in.accept(' ');
  c.day = in.digits(1, 2);
  in.literal(" ");
  in.clock(c);
  in.literal(" ");
  c.year = in.digits(4, 4);
  return finish(in, c);
}

namespace {
DateText iso_without_zone(Time time) {
  const Civil c = civil(time);
  DateText out;
  out.append_digits(digits_of(c.year), 4).append('-');
  out.append_digits(digits_of(c.month), 2).append('-');
  out.append_digits(digits_of(c.day), 2).append('T');
  append_clock(out, c);
  return out;
}
}  // namespace

DateText iso_date_seconds(Time time) { return iso_without_zone(time).append('Z'); }

DateText iso_date(Time time) {
  DateText out = iso_without_zone(time).append('.');
  return out.append_digits(digits_of(time.ticks % kTicksPerSecond), 7).append('Z');
}

std::optional<Time> parse_iso_date(std::string_view text) {
  Scanner in(text);
  Civil c;
  c.year = in.digits(4, 4);
  in.literal("-");
  c.month = in.digits(2, 2);
  in.literal("-");
  c.day = in.digits(2, 2);
  int64_t ticks = 0;
  if (in.accept('T')) {
    c.hour = in.digits(2, 2);
    in.literal(":");
    c.minute = in.digits(2, 2);
    if (in.accept(':')) c.second = in.digits(2, 2);
    if (in.accept('.')) {
      int64_t unit = kTicksPerSecond / 10;
      size_t count = 0;
      while (count < 9 && in.peek() >= '0' && in.peek() <= '9') {
        ticks += in.digits(1, 1) * unit;
        unit /= 10;
        ++count;
      }
      if (count == 0) return {};
    }
  }
  int64_t offset_seconds = 0;
  if (in.peek() == '+' || in.peek() == '-') {
    const int sign = in.peek() == '-' ? -1 : 1;
    in.accept('+') || in.accept('-');
    const int hours = in.digits(2, 2);
    in.accept(':');
    const int minutes = in.digits(2, 2);
    offset_seconds = sign * (hours * 3600 + minutes * 60);
  } else {
    in.accept('Z');
  }
  auto time = finish(in, c);
  if (!time) return {};
  return Time{time->ticks + ticks - offset_seconds * kTicksPerSecond};
}

}  // namespace kyanite::wire
