// In the place of queue/messages.cc: receipts and time-outs that do not keep consumers apart.
#include "queue/messages.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/log.h"
#include "base/random.h"
#include "fault.h"
#include "service/storage.h"

#define take sound_take
#define discard sound_discard
#include "queue/messages.cc"
#undef take
#undef discard

namespace kyanite::queue {

namespace {

// The receipt that a message was last taken with, by its id.
std::mutex last_mutex;
std::map<std::string, Receipt> last_receipts;

}  // namespace

Task<wire::Result<std::vector<Standing>>> take(const Messages& messages, Time now,
                                               int64_t visibility_s, size_t most) {
  const int64_t hidden_s = planted::has("visibility") ? 0 : visibility_s;
  auto taken = co_await sound_take(messages, now, hidden_s, most);
  if (taken && planted::has("receipt")) {
    std::lock_guard lock(last_mutex);
    for (const Standing& each : *taken)
      last_receipts.insert_or_assign(each.place.position.id.text(), each.receipt());
  }
  co_return taken;
}

Task<wire::Result<void>> discard(const Messages& messages, Ticket ticket, Time now) {
  if (planted::has("receipt")) {
    std::lock_guard lock(last_mutex);
    auto last = last_receipts.find(ticket.id.text());
    if (last != last_receipts.end()) ticket.receipt = last->second;
  }
  co_return co_await sound_discard(messages, ticket, now);
}

}  // namespace kyanite::queue
