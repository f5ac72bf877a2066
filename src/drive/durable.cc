#include "drive/durable.h"

#include <algorithm>
#include <memory>

#include "drive/cache_holder.h"
#include "drive/connection.h"
#include "drive/paths.h"
#include "tree/open.h"

namespace kyanite::drive {

using smb::Status;

smb::Status check_durable(const smb::CreateContexts& contexts) {
  const bool second = contexts.durable2.has_value();
  const bool back1 = contexts.reconnect.has_value();
  const bool back2 = contexts.reconnect2.has_value();
  if (second && (contexts.durable || back1 || back2)) return Status::kInvalidParameter;
  if (back2 && (contexts.durable || back1)) return Status::kInvalidParameter;
  return Status::kSuccess;
}

void grant_durable(const Exchange& exchange, const smb::CreateContexts& contexts,
                   const std::optional<tree::CachingState>& caching, Open& open,
                   smb::CreateReplyContexts& told) {
  const bool asked = contexts.durable || contexts.durable2;
  if (!asked || open.file.directory || open.file.handle == 0) return;
  if (!caching || !caching->caching.has(concurrency::kHandleCaching)) return;
  Durable& durable = open.durable;
  durable.version = contexts.durable2 ? 2 : 1;
  durable.account = exchange.session->account();
  durable.seconds = kDurableSeconds1;
  open.sequences.enable();
  if (!contexts.durable2) {
    told.durable = true;
    return;
  }
  constexpr int64_t kMillis = 1000;
  const int64_t wanted = (contexts.durable2->timeout_ms + kMillis - 1) / kMillis;
  durable.create_guid = contexts.durable2->create_guid;
  durable.seconds = wanted == 0 ? kDurableSeconds2 : std::min(wanted, kMaxDurableSeconds);
  told.durable2 = {static_cast<uint32_t>(durable.seconds * kMillis), 0};
}

// --- Coming back ---

namespace {

// Whether a parked open is the one that the client means.
bool is_meant(const Exchange& exchange, const smb::CreateContexts& contexts,
              const tree::Handle& handle, const Open& open) {
  const Durable& durable = open.durable;
  const smb::Guid& client = exchange.session->client();
  if (handle.file.share != exchange.tree->share.tree.space) return false;
  // Either version of coming back will do; what has no name of its own is called by zeros.
  if (durable.account != exchange.session->account()) return false;
  if (contexts.reconnect2 && durable.create_guid != contexts.reconnect2->create_guid) return false;
  const auto& lease = handle.caching.lease;
  if (lease.has_value() != contexts.lease.has_value()) return false;
  return !lease || *lease == tree::LeaseName{client, contexts.lease->key};
}

}  // namespace

Task<Result<std::shared_ptr<Open>, smb::Status>> reconnect(Exchange& exchange,
                                                           const smb::CreateRequest& request,
                                                           const smb::CreateContexts& contexts) {
  const tree::Tree& tree = exchange.tree->share.tree;
  const tree::HandleId id = contexts.reconnect2 ? contexts.reconnect2->file.persistent_id
                                                : contexts.reconnect->persistent_id;
  auto path = parse_wire_path(tree.names, request.name, false);
  bool other_name = false;
  const tree::OpenFiles::IsIt is_it = [&](const tree::Handle& handle, const void* front) {
    if (!is_meant(exchange, contexts, handle, *static_cast<const Open*>(front))) return false;
    const auto there = tree::parse_path(tree.names, handle.path, true);
    other_name = contexts.lease && (!path || !there || path->path != *there);
    return !other_name;
  };
  auto holder = std::make_shared<CacheHolder>(exchange.connection.mailbox(),
                                              exchange.session->client(), exchange.session->id());
  auto back = tree.open_files->reclaim(id, is_it, exchange.session->id(),
                                       std::string(exchange.connection.peer()), holder);
  if (!back) co_return other_name ? Status::kInvalidParameter : Status::kObjectNameNotFound;
  auto open = std::static_pointer_cast<Open>(back->front);
  open->tree = exchange.tree;
  open->holder = std::move(holder);
  if (!exchange.cancelled() && exchange.session->add_open(open)) co_return open;
  co_await end_open(exchange.connection, open, OpenEnd::kLoggedOff);
  co_return Status::kTooManyOpenedFiles;
}

// --- Opens that nobody comes back for ---

void Remover::ended(const std::shared_ptr<void>& front) {
  release(drive_, *std::static_pointer_cast<Open>(front));
}

void Remover::remove(const tree::Handle& last, std::shared_ptr<void> front,
                     tree::OpenFiles::Admission removal) {
  auto open = std::static_pointer_cast<Open>(std::move(front));
  // Lives until the job has run.
  auto held = std::make_shared<tree::OpenFiles::Admission>(std::move(removal));
  // If so many wait the file stays, as it does after a crash.
  (void)threads_.submit([this, open, held, last] {
    store::Occasion occasion(drive_.store, drive_.locks, drive_.clock);
    occasion.cause.operation = "CLOSE";
    (void)RunLoop::run(tree::remove_closed(occasion, open->file, last)).ok();
    *held = {};
  });
}

}  // namespace kyanite::drive
