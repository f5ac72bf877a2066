// TREE_CONNECT: a share of the account, or IPC$, which clients connect to first of all.
#include <utility>

#include "base/bytes.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/store_status.h"
#include "smb/session.h"

namespace kyanite::drive {

namespace {
constexpr std::string_view kPipesName = "ipc$";
constexpr uint32_t kPipesAccess = smb::kGenericReadMeans;

// The share of \\server\share: whatever the server is called.
std::optional<std::string> share_name(std::string_view path) {
  if (!path.starts_with("\\\\")) return {};
  path.remove_prefix(2);
  const size_t server_end = path.find('\\');
  if (server_end == std::string_view::npos) return {};
  path.remove_prefix(server_end + 1);
  if (path.empty() || path.find('\\') != std::string_view::npos) return {};
  return ascii_lower(path);
}
}  // namespace

Task<Reply> tree_connect(Exchange& exchange) {
  const auto request = smb::decode<smb::TreeConnectRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto name = share_name(request->path);
  if (!name) co_return refuse(exchange, smb::Status::kBadNetworkName);

  Connection& connection = exchange.connection;
  Session& session = *exchange.session;
  TreeConnect tree;
  tree.pipes = *name == kPipesName;
  tree.maximal_access = tree.pipes ? kPipesAccess : smb::kGenericAllMeans;
  if (!tree.pipes) {
    auto share =
        co_await connection.drive().shares.find(exchange.occasion, session.account(), *name);
    if (!share) co_return refuse(exchange, status_of(share.error()));
    if (!*share) co_return refuse(exchange, smb::Status::kBadNetworkName);
    tree.share = std::move(**share);
  }
  // The client may have logged off meanwhile.
  if (exchange.cancelled()) co_return refuse(exchange, smb::Status::kUserSessionDeleted);
  if (connection.tree_count() >= kMaxTreesOfConnection)
    co_return refuse(exchange, smb::Status::kInsufficientResources);
  Drive& drive = connection.drive();
  tree.place = drive.trees_of_all.take(session.account(), connection.network());
  if (!tree.place) co_return refuse(exchange, smb::Status::kInsufficientResources);
  const auto added = session.add_tree(std::move(tree));
  if (added == nullptr) co_return refuse(exchange, smb::Status::kInsufficientResources);
  drive.metrics.trees.fetch_add(1, std::memory_order_relaxed);

  smb::TreeConnectReply body;
  body.type = added->pipes ? smb::ShareType::kPipe : smb::ShareType::kDisk;
  body.flags = added->pipes ? smb::share_flag::kNoCaching : smb::share_flag::kManualCaching;
  body.maximal_access = added->maximal_access;
  Reply made = reply(exchange, body);
  made.header.tree_id = added->id;
  co_return made;
}

}  // namespace kyanite::drive
