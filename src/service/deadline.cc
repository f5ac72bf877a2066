#include "service/deadline.h"

#include <algorithm>

#include "base/bytes.h"
#include "wire/service.h"

namespace kyanite::service {

namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;
constexpr int64_t kDownloadSecondsPerMegabyte = 120;
// A bound of our own, for bodies of unknown length.
constexpr int64_t kMaxTransferSeconds = int64_t{24} * 3600;

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

wire::Result<void> set_deadline(Call& call) {
  // 0 is as good as none.
  if (const auto text = call.query.find("timeout"); text && !text->empty()) {
    if (!is_digits(*text)) return wire::invalid_query("timeout", *text);
    // More than fits is more than anybody gets.
    constexpr uint64_t kMost = kMaxTransferSeconds;
    call.asked_s = static_cast<int64_t>(std::min(parse_uint(*text).value_or(kMost), kMost));
  }
  allow_seconds(call, kMaxRequestSeconds);
  return {};
}

void allow_seconds(Call& call, int64_t most_s) {
  const int64_t allowed_s = call.asked_s == 0 ? most_s : std::min(call.asked_s, most_s);
  if (call.deadline.is_set()) {
    call.deadline.allow_seconds(allowed_s);
  } else {
    call.deadline = Deadline(call.context.clock, allowed_s);
  }
}

void allow_transfer(Call& call, std::optional<uint64_t> bytes) {
  const uint64_t minutes_per_megabyte = call.target.service == wire::Service::kFile ? 2 : 10;
  uint64_t most_s = kMaxTransferSeconds;
  if (bytes) {
    const uint64_t megabytes = *bytes / kMegabyte + 1;
    most_s = std::min(most_s, megabytes * minutes_per_megabyte * 60);
  }
  allow_seconds(call, static_cast<int64_t>(most_s));
}

Deadline download_deadline(const Call& call, uint64_t bytes) {
  Deadline deadline = call.deadline.is_set() ? call.deadline : Deadline(call.context.clock, 0);
  const auto megabytes = static_cast<int64_t>(bytes / kMegabyte + 1);
  deadline.allow_seconds(megabytes * kDownloadSecondsPerMegabyte);
  return deadline;
}

}  // namespace kyanite::service
