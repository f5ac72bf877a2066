// Set Blob Expiry: PUT /{container}/{blob}?comp=expiry
//
// A blob past its expiry is gone for every request; its records are removed in the background. In
// Azure only accounts with a hierarchical namespace have it; here a setting of the account allows
// it without. As there, it is no change of the blob: the ETag stays.
#include "base/bytes.h"
#include "blob/blob.h"
#include "blob/expiry.h"
#include "blob/handlers.h"
#include "wire/date.h"

namespace kyanite::blob {

using service::Call;

namespace {

constexpr std::string_view kOption = "x-ms-expiry-option";
constexpr std::string_view kTime = "x-ms-expiry-time";

}  // namespace

wire::Result<Time> decode_expiry(const Call& call, Time created) {
  const auto option = call.headers().find(kOption);
  if (!option) return wire::missing_header(kOption);
  if (equals_ignoring_case(*option, "NeverExpire")) return Time();
  const auto text = call.headers().find(kTime);
  if (!text) return wire::missing_header(kTime);
  if (equals_ignoring_case(*option, "Absolute")) {
    const auto time = wire::parse_http_date(*text);
    if (!time || *time <= call.now) return wire::invalid_header(kTime, *text);
    return *time;
  }
  const auto millis = parse_uint(*text);
  constexpr uint64_t kMostMillis = uint64_t{400} * 366 * 24 * 3600 * 1000;
  if (!millis || *millis > kMostMillis) return wire::invalid_header(kTime, *text);
  const int64_t ticks = static_cast<int64_t>(*millis) * (kTicksPerSecond / 1000);
  if (equals_ignoring_case(*option, "RelativeToNow")) return Time{call.now.ticks + ticks};
  if (equals_ignoring_case(*option, "RelativeToCreation")) return Time{created.ticks + ticks};
  return wire::invalid_header(kOption, *option);
}

Outcome set_blob_expiry(Call& call) {
  const auto container = co_await find_container(call);
  if (!container) co_return container.error();
  if (!call.settings().blob_expiry && !(*container)->hierarchical) {
    co_return wire::Error(wire::Code::kHierarchicalNamespaceNotEnabled)
        .saying(
            "This operation is only supported on a hierarchical namespace account, or with the "
            "account setting blobExpiry.");
  }
  Rules rules = kChanges;
  rules.takes_directories = true;
  auto checks = decode_checks(call, rules);
  if (!checks) co_return checks.error();
  auto edit = [&](Change& change) -> wire::Result<void> {
    if (change.blob->is_directory())
      return wire::Error(wire::Code::kExpiryNotSupportedForDirectory);
    auto expiry = decode_expiry(call, change.blob->created);
    if (!expiry) return expiry.error();
    change.blob->expires = *expiry;
    return {};
  };
  auto changed = co_await change_blob(call, *checks, edit);
  if (!changed) co_return changed.error();
  http::Reply reply(200);
  encode_changed(reply, changed->changed);
  co_return reply;
}

}  // namespace kyanite::blob
