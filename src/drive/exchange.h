// One request on its way, and its reply: what the handler of a command works with.
//
// Handlers of one connection run beside each other as coroutines on its loop. A handler decodes the
// message, acts, and encodes:
//
//   Task<Reply> flush(Exchange& exchange) {
//     const auto request = smb::decode<smb::FlushRequest>(exchange.message);
//     if (!request) co_return refuse(exchange, request.error());
//     const auto open = exchange.find_open(request->file);
//     if (open == nullptr) co_return refuse(exchange, smb::Status::kFileClosed);
//     ...
//     co_return reply(exchange, smb::FlushReply());
//   }
//
// Ids, credits, signature and encryption of replies are not its business.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "drive/chain.h"
#include "drive/channel_order.h"
#include "drive/session.h"
#include "os/file.h"
#include "smb/frame.h"
#include "store/occasion.h"

namespace kyanite::drive {

class Connection;
struct CommandRow;

struct Reply {
  // Handlers change the status and, where they make one, the id of the session or tree.
  smb::Header header;
  std::string message;          // Room for the header, and the body.
  std::vector<os::Bytes> data;  // What follows the body, not copied into it: what READ has read.
  store::Hold hold;             // Of what is to be read from files yet.

  // For the end of a logon, whose request is not signed.
  std::shared_ptr<Channel> signed_by;
  // What goes into the hash of a logon before it ends.
  smb::PreauthHash* preauth = nullptr;
};

class Exchange {
 public:
  Exchange(Connection& on, Chain& part_of, size_t index);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Connection& connection;
  // Set as the command's row in the table (commands.h) says: a command that needs a session has an
  // established one, a command that needs a tree has both.
  std::shared_ptr<Session> session;
  std::shared_ptr<TreeConnect> tree;
  const smb::Header& header;
  const std::string_view message;  // The header first; valid as long as this.
  store::Occasion occasion;

  // The open that a request names; in a chain, what the message before opened or used. Null when
  // there is none, when it is another tree's, and when it has ended without having been closed.
  std::shared_ptr<Open> find_open(const smb::FileId& named);
  // Whether the request may change what find_open() has found: FILE_NOT_AVAILABLE otherwise. For
  // those that a client sends again when it has lost a connection.
  bool may_change() const { return may_change_; }
  // From now on that is what further messages of the chain mean. For CREATE.
  void opened(const smb::FileId& id);
  // The request works with this until it ends. find_open() says so for what it finds.
  void work_with(const std::shared_ptr<Open>& open);

  // Tells the client that the reply takes its time, before waiting for other clients. Once it was
  // told so, this tells nothing more.
  enum class Async {
    kTold,
    kInChain,  // Further messages follow in the chain: they and the client wait in silence.
    kTooMany,  // So many of this connection wait that this must not: INSUFFICIENT_RESOURCES.
  };
  [[nodiscard]] Async go_async();

  // Why waiting has to end.
  enum class Cancelled {
    kByClient,  // The client asked for it: CANCELLED.
    kEnded,     // The tree, session or connection of the request is gone.
  };
  std::optional<Cancelled> cancelled() const { return cancelled_; }
  // `wake` is called once when that happens, on the loop, at once if it has happened; it must only
  // see to it that the handler goes on soon. Null: not any more.
  void when_cancelled(std::function<void()> wake);
  void cancel(Cancelled why);

  // For the connection.
  const CommandRow* row = nullptr;
  uint64_t async_id() const { return async_id_; }
  const Incoming& incoming() const { return incoming_; }
  Chain& chain() const { return chain_; }
  // What the reply is signed with if the request was; the session is established.
  const std::shared_ptr<Channel>& channel() const {
    return chain_.origin ? chain_.origin->channel : session->channel;
  }
  // Of the connection that it came by, which need not be the one that serves it.
  const Agreement& agreement() const;
  // That connection ends as soon as it can.
  void drop(std::string_view why);
  bool is_last() const { return &incoming_ == &chain_.requests.back(); }
  size_t place = 0;  // among the running ones
  // Goes on when the connection that it came by is lost, as long as its session has others: the
  // client asks again there.
  bool outlives_channel = false;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

 private:
  Chain& chain_;
  const Incoming& incoming_;
  uint64_t async_id_ = 0;  // Set once the client was told to wait.
  std::optional<Cancelled> cancelled_;
  std::function<void()> wake_;
  std::vector<std::shared_ptr<Open>> work_;
  std::shared_ptr<Open> counted_at_;  // by this
  ChannelOrder::Counted counted_;
  bool may_change_ = true;
};

using Handler = Task<Reply> (*)(Exchange&);

// A reply with a body. The status is usually success; few others go with the usual body.
template <class Body>
Reply reply(const Exchange& exchange, const Body& body,
            smb::Status status = smb::Status::kSuccess) {
  Reply made;
  made.header = smb::reply_header(exchange.header, status);
  made.message = smb::encode(made.header, body);
  return made;
}

// An error, with data where the status has some.
Reply refuse(const Exchange& exchange, smb::Status status, std::string_view data = {});

}  // namespace kyanite::drive
