// CREATE: opens a file or directory, which may be made or emptied by that.
#include "smb/create.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "drive/access.h"
#include "drive/cache_holder.h"
#include "drive/commands.h"
#include "drive/connection.h"
#include "drive/create_caching.h"
#include "drive/durable.h"
#include "drive/file_facts.h"
#include "drive/file_status.h"
#include "drive/paths.h"
#include "drive/store_status.h"
#include "smb/times.h"
#include "tree/access_check.h"
#include "tree/file_io.h"
#include "tree/handle_info.h"
#include "tree/open.h"

namespace kyanite::drive {

namespace {

using smb::Status;
namespace option = smb::create_option;

constexpr uint32_t kUnknownOptions = 0xFF000000;
constexpr uint32_t kUnservedOptions =
    option::kTreeConnection | option::kOpenByFileId | option::kReserveOpfilter;
constexpr uint32_t kUnknownAttributes = 0xFFFF8048;
constexpr uint32_t kAllSharing =
    smb::share_access::kRead | smb::share_access::kWrite | smb::share_access::kDelete;

bool has(const smb::CreateRequest& request, uint32_t options) {
  return (request.options & options) != 0;
}

bool empties(smb::Disposition disposition) {
  return disposition == smb::Disposition::kSupersede ||
         disposition == smb::Disposition::kOverwrite ||
         disposition == smb::Disposition::kOverwriteIf;
}

// What is wrong with the request whatever is stored.
Status check_request(const smb::CreateRequest& request) {
  if (request.impersonation > smb::kMaxImpersonation) return Status::kBadImpersonationLevel;
  if ((request.options & kUnknownOptions) != 0) return Status::kInvalidParameter;
  if (has(request, kUnservedOptions)) return Status::kNotSupported;
  if (request.disposition > smb::Disposition::kOverwriteIf) return Status::kInvalidParameter;
  const uint32_t access = tree::plain_rights(request.desired_access);
  if (!is_access(access)) return Status::kAccessDenied;
  if ((request.attributes & kUnknownAttributes) != 0) return Status::kInvalidParameter;
  if ((request.share_access & ~kAllSharing) != 0) return Status::kInvalidParameter;
  const bool directory = has(request, option::kDirectoryFile);
  if (directory && has(request, option::kNonDirectoryFile)) return Status::kInvalidParameter;
  if (directory && empties(request.disposition)) return Status::kInvalidParameter;
  const bool may_delete = (access & (smb::access::kDelete | smb::access::kMaximumAllowed)) != 0;
  if (has(request, option::kDeleteOnClose) && !may_delete) return Status::kInvalidParameter;
  return Status::kSuccess;
}

tree::Kind wanted_kind(const smb::CreateRequest& request) {
  if (has(request, option::kDirectoryFile)) return tree::Kind::kDirectory;
  return has(request, option::kNonDirectoryFile) ? tree::Kind::kFile : tree::Kind::kEither;
}

// The share that was connected may be deleted by now, or another one may have its name.
Task<Result<void, Status>> check_share(Exchange& exchange) {
  TreeConnect& tree = *exchange.tree;
  const uint64_t deletions = tree.share.tree.open_files->deletions();
  if (tree.there_at == deletions) co_return {};
  auto now = co_await exchange.connection.drive().shares.find(
      exchange.occasion, exchange.session->account(), tree.share.name);
  if (!now) co_return drive::status_of(now.error());
  if (!*now || (*now)->tree.space != tree.share.tree.space) co_return Status::kNetworkNameDeleted;
  tree.there_at = deletions;
  co_return {};
}

// The tree that is meant: the share's, or what one of its snapshots shows.
Task<Result<tree::Tree, Status>> find_tree(Exchange& exchange,
                                           const smb::CreateContexts& contexts) {
  const Share& share = exchange.tree->share;
  if (!contexts.snapshot) co_return share.tree;
  const auto instant = smb::from_file_time(*contexts.snapshot);
  if (!instant) co_return Status::kObjectNameNotFound;
  auto shown =
      co_await exchange.connection.drive().shares.find_snapshot(exchange.occasion, share, *instant);
  if (!shown) co_return drive::status_of(shown.error());
  if (!*shown) co_return Status::kObjectNameNotFound;
  co_return **shown;
}

// Who deletes the share or the snapshot ends what is open of it, but perhaps did so before this
// was. `before` is how many deletions there were when the tree was found.
Task<Result<void, Status>> check_again(Exchange& exchange, const smb::CreateContexts& contexts,
                                       const tree::Tree& tree, uint64_t before) {
  if (auto there = co_await check_share(exchange); !there) co_return there.error();
  if (!tree.shown || tree.open_files->deletions() == before) co_return {};
  auto now = co_await find_tree(exchange, contexts);
  if (!now) co_return now.error();
  if (now->shown != tree.shown) co_return Status::kObjectNameNotFound;
  co_return {};
}

// Opening as the request asks for it, and what it is granted by that.
struct Asked {
  tree::Opening opening;
  uint32_t most = 0;
  uint32_t granted = 0;
  Status denied = Status::kSuccess;
};

// Grants what the request asks of an entry, or of something new (null).
Task<tree::Result<concurrency::AccessSet>> grant(Exchange& exchange,
                                                 const smb::CreateRequest& request,
                                                 const tree::Tree& tree, const tree::Entry* entry,
                                                 const tree::Entry& parent, Asked& asked) {
  const bool makes_directory = asked.opening.kind == tree::Kind::kDirectory;
  auto finding = entry != nullptr ? maximal_access(exchange.occasion, tree, *entry, parent)
                                  : access_to_new(exchange.occasion, tree, makes_directory, parent);
  auto most = co_await std::move(finding);
  if (!most) co_return most.error();
  const bool read_only = entry != nullptr && !entry->directory &&
                         (entry->smb.attributes & tree::kReadOnlyAttribute) != 0;
  asked.most = read_only ? most_of_read_only(*most) : *most;
  if (tree.shown) asked.most = most_of_shown(*most);
  auto granted = grant_access(request.desired_access, *most, read_only);
  // Emptying a file is writing to it, and replacing it deletes it besides.
  uint32_t needed = 0;
  if (empties(request.disposition)) needed = smb::access::kWriteData;
  if (request.disposition == smb::Disposition::kSupersede) needed |= smb::access::kDelete;
  if (granted && (needed & ~*most) != 0) granted = Status::kAccessDenied;
  // Who asks for as much as there is may not get this.
  if (granted && asked.opening.delete_on_close && (*granted & smb::access::kDelete) == 0)
    granted = Status::kAccessDenied;
  if (!granted) {
    asked.denied = granted.error();
    co_return tree::Error(tree::Reason::kOwn);
  }
  asked.granted = *granted;
  asked.opening.reach = reach_of(*granted);
  co_return access_set(*granted);
}

Result<void, Status> fill_opening(Exchange& exchange, const smb::CreateRequest& request,
                                  const smb::CreateContexts& contexts, const tree::Tree& tree,
                                  Asked& asked) {
  auto path = parse_wire_path(tree.names, request.name, false);
  if (!path) return path.error();
  if (path->names_directory && has(request, option::kNonDirectoryFile))
    return Status::kObjectNameInvalid;
  tree::Opening& opening = asked.opening;
  opening.path = std::move(path->path);
  opening.disposition = static_cast<tree::Disposition>(request.disposition);
  opening.kind = wanted_kind(request);
  opening.share = share_set(request.share_access);
  opening.delete_on_close = has(request, option::kDeleteOnClose);
  opening.attributes = request.attributes & kStoredAttributes;
  opening.descriptor = contexts.security_descriptor;
  opening.session = exchange.session->id();
  opening.client = exchange.connection.peer();
  opening.grant = [&](const tree::Entry* entry, const tree::Entry& parent) {
    return grant(exchange, request, tree, entry, parent, asked);
  };
  return {};
}

Status refusal_of(const Asked& asked, const smb::CreateRequest& request, const tree::Error& error) {
  if (error == tree::Error(tree::Reason::kOwn)) return asked.denied;
  // Directories cannot be emptied.
  const bool emptied =
      error == tree::Error(tree::Reason::kIsDirectory) && !has(request, option::kNonDirectoryFile);
  return emptied ? Status::kInvalidParameter : drive::status_of(error);
}

smb::CreateAction action_of(tree::OpenAction action) {
  switch (action) {
    case tree::OpenAction::kSuperseded:
      return smb::CreateAction::kSuperseded;
    case tree::OpenAction::kOpened:
      return smb::CreateAction::kOpened;
    case tree::OpenAction::kCreated:
      return smb::CreateAction::kCreated;
    case tree::OpenAction::kOverwritten:
      return smb::CreateAction::kOverwritten;
  }
  return smb::CreateAction::kOpened;
}

smb::CreateReplyContexts answer_contexts(const smb::CreateContexts& asked, const tree::Entry& entry,
                                         const tree::Tree& tree, uint32_t most) {
  smb::CreateReplyContexts contexts;
  if (asked.maximal_access) {
    const bool known = asked.maximal_access->timestamp != 0 &&
                       asked.maximal_access->timestamp == smb::to_file_time(entry.smb.written);
    contexts.maximal_access = {known ? Status::kNoneMapped : Status::kSuccess, known ? 0 : most};
  }
  if (asked.on_disk_id) contexts.on_disk_id = {file_id_of(entry.id), tree.space};
  return contexts;
}

// Who comes back has been told before whether the open outlives its connection. Who asks again is
// told as much of an oplock as it asks for now.
enum class Telling { kNew, kBack, kAgain };

// The reply that tells of an open.
Reply tell_open(const Exchange& exchange, const smb::CreateContexts& contexts, Open& open,
                const tree::Entry& entry, Telling telling, smb::OplockLevel asked) {
  smb::CreateReply body;
  body.action = open.action;
  body.times = times_of(entry);
  body.allocation_size = allocation_of(entry, open.allocation);
  body.end_of_file = length_of(entry);
  body.attributes = attributes_of(entry);
  body.file = open.id;
  smb::CreateReplyContexts told =
      answer_contexts(contexts, entry, open.file.tree, open.most_access);
  const auto caching = open.file.tree.open_files->caching(open.file.handle);
  if (!open.file.directory) tell_caching(contexts, caching, body, told);
  const bool other = telling == Telling::kAgain && caching && !caching->is_lease &&
                     body.oplock != asked && asked != smb::OplockLevel::kLease;
  if (other) body.oplock = asked;
  if (telling != Telling::kBack && !other) grant_durable(exchange, contexts, caching, open, told);
  if (open.holder != nullptr) open.holder->opened(open.id, caching && caching->counts_epochs);
  const std::string answered = told.encode();
  body.contexts = answered;
  return reply(exchange, body);
}

// A client has come back for what it had open.
Task<Reply> come_back(Exchange& exchange, const smb::CreateRequest& request,
                      const smb::CreateContexts& contexts) {
  auto back = co_await reconnect(exchange, request, contexts);
  if (!back) co_return refuse(exchange, back.error());
  Open& open = **back;
  exchange.opened(open.id);
  exchange.work_with(*back);
  exchange.connection.drive().metrics.opens.fetch_add(1, std::memory_order_relaxed);
  auto entry = co_await tree::state_of(exchange.occasion, open.file);
  if (!entry) co_return refuse(exchange, drive::status_of(entry.error()));
  open.action = smb::CreateAction::kOpened;
  open.order.begin_anew(exchange.header.channel_sequence());
  co_return tell_open(exchange, contexts, open, *entry, Telling::kBack, request.oplock);
}

// A request that has the name of an earlier one: it is that one again, or a mistake.
Task<Reply> come_again(Exchange& exchange, const smb::CreateRequest& request,
                       const smb::CreateContexts& contexts, std::shared_ptr<Open> open) {
  if (!exchange.header.has(smb::header_flag::kReplay))
    co_return refuse(exchange, Status::kDuplicateObjectId);
  if (open == nullptr) co_return refuse(exchange, Status::kFileNotAvailable);
  const auto there = open->file.tree.open_files->find(open->file.handle);
  std::optional<tree::LeaseName> lease;
  if (contexts.lease) lease = tree::LeaseName{exchange.session->client(), contexts.lease->key};
  if (!there || there->caching.lease != lease) co_return refuse(exchange, Status::kAccessDenied);
  exchange.work_with(open);
  auto entry = co_await tree::state_of(exchange.occasion, open->file);
  if (!entry) co_return refuse(exchange, drive::status_of(entry.error()));
  exchange.opened(open->id);
  co_return tell_open(exchange, contexts, *open, *entry, Telling::kAgain, request.oplock);
}

// What the client calls its request, until something is open under that name.
class Naming {
 public:
  Naming(NamedCreates& creates, NamedCreates::Name name)
      : creates_(creates), name_(std::move(name)) {}
  ~Naming() {
    if (name_) creates_.end(*name_, 0);
  }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;
  void give(Open& open) {
    creates_.end(*name_, open.file.handle);
    open.named = std::exchange(name_, std::nullopt);
  }

 private:
  NamedCreates& creates_;
  std::optional<NamedCreates::Name> name_;
};

// The open may have to wait for other clients: then its own is told so, and may cancel it.
void let_wait(Exchange& exchange, const tree::Tree& tree, tree::Opening& opening) {
  opening.ticket = random_u64();
  opening.may_wait = [&exchange, &tree, ticket = opening.ticket](tree::FileKey file) {
    if (exchange.go_async() == Exchange::Async::kTooMany) return false;
    tree::OpenFiles* table = tree.open_files;
    exchange.when_cancelled([table, file, ticket] { table->cancel_open(file, ticket); });
    return true;
  };
}

// The program that asks may have the same file open on another machine, from which it was moved:
// not any more.
Task<void> take_from_elsewhere(Exchange& exchange, const smb::Guid& program, const tree::Tree& tree,
                               const tree::Path& path) {
  Drive& drive = exchange.connection.drive();
  const smb::Guid& client = exchange.session->client();
  for (const tree::HandleId handle : drive.programs.elsewhere(program, client)) {
    const auto there = tree.open_files->find(handle);
    if (!there || there->file.share != tree.space) continue;
    const auto at = tree::parse_path(tree.names, there->path, true);
    if (at && *at == path) co_await tree::close_for_another(exchange.occasion, tree, *there);
  }
}

// Opens what is asked for, in the session of the request.
Task<Reply> open_new(Exchange& exchange, const smb::CreateRequest& request,
                     const smb::CreateContexts& contexts, Naming* naming) {
  if (auto there = co_await check_share(exchange); !there)
    co_return refuse(exchange, there.error());
  const uint64_t deletions = exchange.tree->share.tree.open_files->deletions();
  auto tree = co_await find_tree(exchange, contexts);
  if (!tree) co_return refuse(exchange, tree.error());
  Asked asked;
  auto filled = fill_opening(exchange, request, contexts, *tree, asked);
  if (!filled) co_return refuse(exchange, filled.error());
  auto open = std::make_shared<Open>();
  open->holder = std::make_shared<CacheHolder>(exchange.connection.mailbox(),
                                               exchange.session->client(), exchange.session->id());
  asked.opening.caching = wanted_caching(exchange, request, contexts, open->holder);
  std::optional<smb::Guid> program;  // That moves.
  if (contexts.app_instance && naming != nullptr)
    program = name_within(exchange.session->account(), contexts.app_instance->id);
  AppInstances& programs = exchange.connection.drive().programs;
  if (program && programs.count(*program) >= kMaxOpensOfProgram)
    co_return refuse(exchange, Status::kInsufficientResources);
  // What a snapshot shows keeps nobody from anything.
  if (program && !tree->shown)
    co_await take_from_elsewhere(exchange, *program, *tree, asked.opening.path);
  let_wait(exchange, *tree, asked.opening);
  auto opened = co_await tree::open(exchange.occasion, *tree, asked.opening);
  exchange.when_cancelled(nullptr);
  if (!opened) co_return refuse(exchange, refusal_of(asked, request, opened.error()));
  if (auto there = co_await check_again(exchange, contexts, *tree, deletions); !there) {
    co_await tree::withdraw(exchange.occasion, *tree, opened->opened.handle);
    co_return refuse(exchange, there.error());
  }
  open->tree = exchange.tree;
  open->file = std::move(opened->opened);
  open->access = asked.granted;
  open->file.only_appends = !open->has(smb::access::kWriteData);
  open->most_access = asked.most;
  open->options = request.options;
  open->order = ChannelOrder(exchange.header.channel_sequence());
  // What is asked for on one connection may come again on another.
  if ((exchange.connection.agreement->capabilities & smb::capability::kMultiChannel) != 0)
    open->sequences.enable();
  open->action = action_of(opened->action);
  if (contexts.allocation_size && opened->action != tree::OpenAction::kOpened)
    open->allocation = std::min(*contexts.allocation_size, tree::kMaxFileBytes);
  open->id.persistent_id = open->file.handle;
  // The client may have logged off meanwhile.
  if (exchange.cancelled() || !exchange.session->add_open(open)) {
    co_await end_open(exchange.connection, open, OpenEnd::kLoggedOff);
    if (!exchange.cancelled()) co_return refuse(exchange, Status::kTooManyOpenedFiles);
    co_return refuse(exchange, exchange.cancelled() == Exchange::Cancelled::kByClient
                                   ? Status::kCancelled
                                   : Status::kUserSessionDeleted);
  }
  exchange.opened(open->id);
  exchange.connection.drive().metrics.opens.fetch_add(1, std::memory_order_relaxed);
  if (naming != nullptr) naming->give(*open);
  if (program) programs.add(*program, {exchange.session->client(), open->file.handle});
  open->program = program;
  co_return tell_open(exchange, contexts, *open, opened->entry, Telling::kNew, request.oplock);
}

}  // namespace

Task<Reply> create(Exchange& exchange) {
  const auto request = smb::decode<smb::CreateRequest>(exchange.message);
  if (!request) co_return refuse(exchange, request.error());
  const auto contexts = smb::CreateContexts::decode(request->contexts);
  if (!contexts) co_return refuse(exchange, contexts.error());
  if (const Status wrong = check_durable(*contexts); wrong != Status::kSuccess)
    co_return refuse(exchange, wrong);
  // Who comes back asks for nothing new: the rest of the request does not matter.
  if (contexts->reconnect || contexts->reconnect2)
    co_return co_await come_back(exchange, *request, *contexts);
  if (const Status wrong = check_request(*request); wrong != Status::kSuccess)
    co_return refuse(exchange, wrong);
  if (contexts->extended_attributes && !contexts->extended_attributes->empty())
    co_return refuse(exchange, Status::kEasNotSupported);
  if (!contexts->durable2) co_return co_await open_new(exchange, *request, *contexts, nullptr);
  NamedCreates& creates = exchange.connection.drive().creates;
  const NamedCreates::Name name{exchange.session->client(), contexts->durable2->create_guid};
  if (const auto known = creates.begin(name)) {
    // Null: it is being served, or another session has it.
    auto open = *known != 0 ? exchange.session->find_by_handle(*known) : nullptr;
    // A client that has used what it opened does not ask for that again.
    const bool anew =
        open != nullptr && open->used && exchange.header.has(smb::header_flag::kReplay);
    if (!anew) co_return co_await come_again(exchange, *request, *contexts, std::move(open));
    open->named.reset();
    creates.end(name, 0);
    if (creates.begin(name)) co_return refuse(exchange, Status::kFileNotAvailable);
  }
  exchange.outlives_channel = true;
  Naming naming(creates, name);
  co_return co_await open_new(exchange, *request, *contexts, &naming);
}

}  // namespace kyanite::drive
