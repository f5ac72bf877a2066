#include "smb/times.h"

#include <chrono>

#include "base/bytes.h"
#include "base/short_text.h"

namespace kyanite::smb {

namespace {
constexpr int64_t kSecondsPerDay = 86'400;
// A digit stands for a number, everything else for itself.
constexpr std::string_view kTokenForm = "@GMT-0000.00.00-00.00.00";
static_assert(kTokenForm.size() == kSnapshotTokenChars);
}  // namespace

std::optional<Time> from_file_time(int64_t file_time) {
  if (file_time <= 0 || file_time > kLastFileTime) return {};
  return Time{file_time + kFileTimeEpochTicks};
}

std::string snapshot_token(Time time) {
  using namespace std::chrono;
  const int64_t seconds_of_day = time.seconds() % kSecondsPerDay;
  const sys_days day(days((time.seconds() - seconds_of_day) / kSecondsPerDay -
                          kUnixEpochTicks / kTicksPerSecond / kSecondsPerDay));
  const year_month_day date(day);
  ShortText<kSnapshotTokenChars> text;
  text.append("@GMT-").append_digits(static_cast<uint64_t>(int(date.year())), 4);
  text.append('.').append_digits(unsigned(date.month()), 2);
  text.append('.').append_digits(unsigned(date.day()), 2);
  text.append('-').append_digits(static_cast<uint64_t>(seconds_of_day / 3600), 2);
  text.append('.').append_digits(static_cast<uint64_t>(seconds_of_day / 60 % 60), 2);
  text.append('.').append_digits(static_cast<uint64_t>(seconds_of_day % 60), 2);
  return text.str();
}

std::optional<Time> parse_snapshot_token(std::string_view token) {
  using namespace std::chrono;
  if (token.size() != kTokenForm.size()) return {};
  for (size_t i = 0; i < token.size(); ++i) {
    const bool digit = token[i] >= '0' && token[i] <= '9';
    if (kTokenForm[i] == '0' ? !digit : token[i] != kTokenForm[i]) return {};
  }
  const auto number = [&](size_t at, size_t digits) {
    return static_cast<unsigned>(*parse_uint(token.substr(at, digits)));
  };
  const year_month_day date(year(static_cast<int>(number(5, 4))), month(number(10, 2)),
                            day(number(13, 2)));
  const unsigned hour = number(16, 2);
  const unsigned minute = number(19, 2);
  const unsigned second = number(22, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return {};
  const int64_t unix_days = sys_days(date).time_since_epoch().count();
  const Time time = Time::from_unix_seconds(unix_days * kSecondsPerDay + int64_t{hour} * 3600 +
                                            int64_t{minute} * 60 + second);
  if (time.ticks <= 0) return {};
  return time;
}

}  // namespace kyanite::smb
