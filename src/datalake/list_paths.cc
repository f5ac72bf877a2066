// Path - List: GET /{filesystem}?resource=filesystem&recursive=true|false
//
// A page is one snapshot. Its continuation is the path to go on from, which need not exist any
// more. Without hierarchical namespace it walks names, of which some say that they are directories.
#include <charconv>
#include <optional>

#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/list_entry.h"
#include "blob/node_walk.h"
#include "concurrency/etag.h"
#include "datalake/drafts.h"
#include "datalake/handlers.h"
#include "datalake/listing.h"
#include "wire/json.h"

namespace kyanite::datalake {

using blob::ListedHead;
using service::Call;
using wire::Code;

namespace {

constexpr std::string_view kBeginFrom = "beginFrom";
constexpr std::string_view kRecursive = "recursive";

// What is listed.
struct PathListing {
  Page page;
  bool recursive = false;
  std::string directory;  // "", or with a slash at its end
  store::SpaceId space = 0;
  uint64_t root = 0;  // the id of the root, where there are directories
  std::optional<blob::ListingAsker> asker;
  // How heads are read. Without directories some are marked by metadata.
  blob::Listing heads;

  std::string_view directory_name() const {
    const std::string_view path = directory;
    return path.substr(0, path.size() - (path.empty() ? 0 : 1));
  }
};

// How far a page has come.
struct Reached {
  std::string next;  // Relative to the directory; "" at the beginning, and when nothing follows.
  uint64_t count = 0;
  bool any = false;  // Something was seen, on this page or on those before it.
  bool ended = false;
  std::optional<wire::Error> refusal;
};

wire::Result<bool> decode_recursive(const Call& call) {
  if (!call.query.has(kRecursive)) {
    return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", kRecursive);
  }
  return decode_flag(call, kRecursive);
}

wire::Result<PathListing> decode_listing(const Call& call) {
  PathListing listing;
  auto page = decode_page(call);
  if (!page) return page.error();
  listing.page = std::move(*page);
  auto recursive = decode_recursive(call);
  if (!recursive) return recursive.error();
  listing.recursive = *recursive;
  if (auto upn = decode_flag(call, "upn"); !upn) return upn.error();
  std::string_view directory = call.query.get("directory");
  while (directory.starts_with('/')) directory.remove_prefix(1);
  while (directory.ends_with('/')) directory.remove_suffix(1);
  if (!directory.empty()) listing.directory = std::string(directory) + '/';
  const std::string_view begin = call.query.get(kBeginFrom);
  if (!listing.recursive && begin.find('/') != std::string_view::npos)
    return wire::invalid_query(kBeginFrom, begin);
  // The continuation of a later page is behind where the first one began.
  if (blob::path_before(listing.page.start, begin)) listing.page.start = begin;
  if (!listing.recursive)
    listing.page.start = listing.page.start.substr(0, listing.page.start.find('/'));
  listing.heads.version = call.version;
  listing.heads.now = call.now;
  return listing;
}

// A number of 100 ns since 1601.
int64_t file_time(Time time) {
  constexpr int64_t kFileTimeEpochTicks = 504'911'232'000'000'000;
  return time.ticks - kFileTimeEpochTicks;
}

// Writes entries that one reader read. What many paths have alike is put together once.
class EntryWriter {
 public:
  EntryWriter(std::string& out, const PathListing& listing)
      : out_(out),
        listing_(listing),
        with_times_(listing.heads.version >= wire::kPathTimesInLists) {}

  // `name` is relative to the directory that is listed.
  void write(std::string_view name, const ListedHead& head, bool is_directory) {
    write(listing_.directory, name, head, is_directory);
  }
  void write(std::string_view directory, std::string_view name, const ListedHead& head,
             bool is_directory) {
    const Alike& alike = put_together(head, is_directory);
    if (out_.back() != '[') out_ += ',';
    out_ += alike.before;
    number(is_directory ? 0 : static_cast<int64_t>(head.length));
    if (with_times_) {
      out_ += R"(","creationTime":")";
      if (listing_.heads.hierarchical) {
        number(file_time(head.created));
      } else {
        out_ += wire::http_date(head.created).view();
      }
    }
    out_ += R"(","etag":")";
    out_ += concurrency::ETag{head.changed}.unquoted().view();
    out_ += alike.between;
    out_ += date(head.changed);
    out_ += R"(","name":")";
    wire::append_json_text(out_, directory);
    wire::append_json_text(out_, name);
    out_ += alike.behind;
  }

 private:
  struct Alike {
    uint64_t number = 0;
    bool is_directory = false;
    std::string before;   // the length,
    std::string between;  // ETag and date,
    std::string behind;   // the name
  };

  void number(int64_t value) {
    char digits[20];
    const char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, static_cast<size_t>(end - digits));
  }
  std::string_view date(Time time) {
    if (time.seconds() != dated_) {
      dated_ = time.seconds();
      date_ = wire::http_date(time);
    }
    return date_.view();
  }
  static void member(std::string& out, std::string_view name, std::string_view text) {
    (out += ",\"") += name;
    out += "\":\"";
    wire::append_json_text(out, text);
    out += '"';
  }
  const Alike& put_together(const ListedHead& head, bool is_directory) {
    if (alike_.number == head.others.number && alike_.is_directory == is_directory) return alike_;
    alike_ = {head.others.number, is_directory, "{", "\"", "\""};
    const auto& node = head.blob.node;
    if (node && !node->encryption_context.empty() &&
        listing_.heads.version >= wire::kEncryptionContextInLists) {
      alike_.before += "\"EncryptionContext\":\"";
      wire::append_json_text(alike_.before, node->encryption_context);
      alike_.before += "\",";
    }
    alike_.before += R"("contentLength":")";
    if (node && with_times_) {
      const Time expires = head.blob.expires;
      member(alike_.between, "expiryTime", std::to_string(expires.set() ? file_time(expires) : 0));
    }
    if (node) member(alike_.between, "group", node->access.group);
    if (is_directory) member(alike_.between, "isDirectory", "true");
    alike_.between += R"(,"lastModified":")";
    if (node) {
      member(alike_.behind, "owner", node->access.owner);
      member(alike_.behind, "permissions", auth::posix::print_permissions(node->access));
    }
    alike_.behind += '}';
    return alike_;
  }

  std::string& out_;
  const PathListing& listing_;
  const bool with_times_;
  Alike alike_;
  int64_t dated_ = -1;
  wire::DateText date_;
};

// One part of a page.
class Lister {
 public:
  Lister(const PathListing& listing, const store::View& view, std::string& out, const Reached& from)
      : listing_(listing),
        view_(view),
        reader_(listing.heads),
        entries_(out, listing),
        from_(from) {
    reached_.count = from.count;
    reached_.any = from.any;
  }

  store::Result<Reached> write() {
    auto written = listing_.heads.hierarchical ? write_tree() : write_names();
    if (!written) return written.error();
    return std::move(reached_);
  }

 private:
  bool is_full() const { return reached_.count == listing_.page.most; }
  void stop_at(std::string_view path, bool ended) {
    reached_.next = path.substr(listing_.directory.size());
    reached_.ended = ended;
  }
  store::Result<void> refuse(wire::Error error) {
    reached_.refusal = std::move(error);
    reached_.ended = true;
    return {};
  }
  store::Result<bool> read(store::Result<std::string_view> value) {
    if (!value) return value.error();
    if (!reader_.read({}, *value, head_)) return store::Error::kCorrupt;
    return is_shown(listing_.heads, head_);
  }

  // The directory it is at.
  bool may_enter() const { return !listing_.asker || blob::may_list(*listing_.asker, head_.blob); }

  store::Result<void> write_tree() {
    if (listing_.asker) {
      const auto may =
          blob::may_list(view_, listing_.space, *listing_.asker, listing_.directory_name());
      if (!may) return may.error();
      if (!*may) return refuse(blob::not_admitted());
    }
    auto directory =
        blob::find_directory(view_, listing_.space, listing_.root, listing_.directory_name());
    if (!directory) return directory.error();
    if (!*directory) return write_file();
    blob::NodeWalk walk(view_, listing_.space, **directory, listing_.directory, {});
    auto started = blob::start_at(walk, from_.next, [&]() -> store::Result<uint64_t> {
      if (auto shown = read(walk.value()); !shown) return shown.error();
      if (!head_.blob.is_directory()) return uint64_t{0};
      if (!may_enter()) {
        if (auto refused = refuse(blob::not_admitted()); !refused) return refused.error();
        return uint64_t{0};
      }
      return head_.blob.node_id;
    });
    if (!started || reached_.refusal) return started;
    while (walk.valid()) {
      auto shown = read(walk.value());
      if (!shown) return shown.error();
      const bool is_directory = head_.blob.is_directory();
      if (*shown) {
        if (is_full()) {
          stop_at(walk.path(), true);
          return {};
        }
        entries_.write(std::string_view(walk.path()).substr(listing_.directory.size()), head_,
                       is_directory);
        ++reached_.count;
      }
      if (is_directory && listing_.recursive) {
        if (!may_enter()) return refuse(blob::not_admitted());
        walk.enter(head_.blob.node_id);
      } else {
        walk.next();
      }
      if (walk.valid() && view_.enough()) {
        stop_at(walk.path(), false);
        return {};
      }
    }
    reached_.ended = true;
    return walk.status();
  }

  // What is listed is no directory: a file is listed as itself.
  store::Result<void> write_file() {
    const std::string_view path = listing_.directory_name();
    const size_t slash = path.rfind('/');
    const bool below_root = slash == std::string_view::npos;
    auto above = blob::find_directory(view_, listing_.space, listing_.root,
                                      path.substr(0, below_root ? 0 : slash));
    if (!above) return above.error();
    if (!*above) return refuse(Code::kPathNotFound);
    const std::string_view name = below_root ? path : path.substr(slash + 1);
    const auto record =
        view_.get(store::Key(listing_.space, blob::kHeads, blob::named_partition(**above, name)));
    if (!record) return record.error();
    if (*record == nullptr) return refuse(Code::kPathNotFound);
    auto shown = read(std::string_view((*record)->value));
    if (!shown) return shown.error();
    if (!*shown) return refuse(Code::kPathNotFound);
    if (from_.next.empty()) entries_.write("", path, head_, false);
    reached_.ended = true;
    return {};
  }

  // Without directories; names below what looks like one are folded unless all are asked for.
  store::Result<void> write_names() {
    auto range = store::Range::partition_prefix(listing_.space, blob::kHeads, listing_.directory);
    range.start_at(first_bytes(listing_.directory + from_.next));
    const auto cursor = view_.scan(range);
    std::string name;
    // Here it is always at the first head of a name, so that it can go on there.
    for (bool moved = false; cursor->valid(); moved = true) {
      const bool is_former = !store::split_key(cursor->key(), name).empty();
      if (moved && view_.enough()) {
        stop_at(name, false);
        return {};
      }
      auto shown = is_former ? store::Result<bool>(false) : read(cursor->value());
      if (!shown) return shown.error();
      if (!*shown) {
        pass(*cursor, name);
        continue;
      }
      reached_.any = true;
      const size_t slash =
          listing_.recursive ? std::string::npos : name.find('/', listing_.directory.size());
      auto written = slash == std::string::npos ? write_name(name) : fold(name.substr(0, slash));
      if (!written) return written.error();
      if (!*written) {
        stop_at(name, true);
        return {};
      }
      if (slash == std::string::npos) {
        pass(*cursor, name);
      } else {
        cursor->seek(store::after_prefix(first_bytes(name.substr(0, slash + 1))));
      }
    }
    reached_.ended = true;
    if (auto status = cursor->status(); !status) return status;
    if (reached_.any || listing_.directory.empty()) return {};
    auto marked = is_there(listing_.directory_name());
    if (!marked) return marked.error();
    return *marked ? store::Result<void>() : refuse(Code::kPathNotFound);
  }
  // To the next name. Most have no former states that would have to be jumped over.
  void pass(store::View::Cursor& cursor, const std::string& name) {
    cursor.next();
    if (!cursor.valid() || store::split_key(cursor.key(), next_name_).empty()) return;
    if (next_name_ == name) cursor.seek(store::after_partition(listing_.space, blob::kHeads, name));
  }
  // False: the page is full.
  store::Result<bool> write_name(std::string_view name) {
    if (is_full()) return false;
    entries_.write(name.substr(listing_.directory.size()), head_, blob::is_folder(head_.blob));
    ++reached_.count;
    return true;
  }
  // A directory that may have no blob to mark it: then it looks like what is first in it.
  store::Result<bool> fold(std::string_view name) {
    auto marked = is_there(name);
    if (!marked) return marked.error();
    if (*marked) return true;  // It was written by its own name.
    if (is_full()) return false;
    entries_.write(name.substr(listing_.directory.size()), head_, true);
    ++reached_.count;
    return true;
  }
  store::Result<bool> is_there(std::string_view name) const {
    auto record = view_.get(store::Key(listing_.space, blob::kHeads, name));
    if (!record) return record.error();
    if (*record == nullptr) return false;
    auto found = store::decode_shared<blob::Blob>(std::move(*record));
    if (!found) return found.error();
    return blob::is_visible(*found->value, listing_.heads.now);
  }
  std::string first_bytes(std::string_view name) const {
    return store::partition_prefix_bytes(listing_.space, blob::kHeads, name);
  }

  const PathListing& listing_;
  const store::View& view_;
  blob::HeadReader reader_;
  EntryWriter entries_;
  const Reached& from_;
  Reached reached_;
  ListedHead head_;
  std::string next_name_;
};

}  // namespace

Outcome list_paths(Call& call) {
  auto listing = decode_listing(call);
  if (!listing) co_return listing.error();
  const auto container = co_await blob::find_container(call);
  if (!container) co_return container.error();
  const bool hierarchical = (*container)->hierarchical;
  listing->space = hierarchical ? blob::lake_space(call.target.account) : (*container)->space;
  listing->root = (*container)->space;
  listing->heads.hierarchical = hierarchical;
  listing->heads.shows.metadata = !hierarchical;
  listing->asker = blob::listing_asker(call, **container);

  std::string body = R"({"paths":[)";
  Reached reached;
  reached.next = listing->page.start;
  reached.any = !reached.next.empty();
  const auto snapshot = call.store().snapshot();
  while (!reached.ended) {
    // A page that takes too long ends early, as pages may.
    if (call.deadline.over()) {
      if (reached.count == 0) co_return wire::Error(Code::kOperationTimedOut);
      break;
    }
    const size_t mark = body.size();
    Reached now;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      body.resize(mark);  // A look may run twice.
      auto written = Lister(*listing, view, body, reached).write();
      if (!written) return written.error();
      now = std::move(*written);
      return {};
    };
    auto looked = co_await snapshot->look(look);
    if (!looked) {
      body.resize(mark);
      const bool may_end_early = looked.error() == store::Error::kBusy;
      if (!may_end_early || reached.count == 0) co_return service::storage_error(looked.error());
      break;
    }
    reached = std::move(now);
  }
  if (reached.refusal) co_return std::move(*reached.refusal);
  body += "]}\n";
  http::Reply reply(200);
  reply.header("Content-Type", "application/json;charset=utf-8");
  encode_continuation(reply, reached.next);
  reply.body = std::move(body);
  co_return reply;
}

}  // namespace kyanite::datalake
