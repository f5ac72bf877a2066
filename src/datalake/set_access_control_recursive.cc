// Path - Update (setAccessControlRecursive): PATCH /{filesystem}/{path}?action=...
//
// Works through the tree in the order of paths, a portion a commit, each guarded by all directories
// that lead to what it changes: so what is renamed out of the tree or deleted meanwhile stays as it
// is, and a portion that lost the race is looked up again. One call does at most so many paths and
// says from which path on the next one goes on. ETags stay.
#include <algorithm>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/admission.h"
#include "datalake/access.h"
#include "datalake/access_headers.h"
#include "datalake/drafts.h"
#include "datalake/handlers.h"
#include "datalake/listing.h"
#include "datalake/portion.h"
#include "wire/json.h"

namespace kyanite::datalake {

using blob::Blob;
using service::Call;
using wire::Code;
namespace posix = auth::posix;

namespace {

constexpr uint64_t kMaxRecords = 2000;  // of one call
constexpr size_t kPortion = 250;        // of one commit

struct TreeOrder {
  posix::Edit edit = posix::Edit::kSet;
  AccessOrder access;  // Its entries alone.
  uint64_t most = kMaxRecords;
  bool goes_on = false;  // Past what fails.
  std::string start;     // The first path to do, from the addressed one on; "" for that itself.
};

wire::Result<posix::Edit> decode_mode(const Call& call) {
  constexpr std::string_view kMode = "mode";
  static constexpr std::pair<std::string_view, posix::Edit> kModes[] = {
      {"set", posix::Edit::kSet},
      {"modify", posix::Edit::kModify},
      {"remove", posix::Edit::kRemove}};
  const auto text = call.query.find(kMode);
  if (!text)
    return wire::Error(Code::kMissingRequiredQueryParameter).with("QueryParameterName", kMode);
  for (const auto& [name, edit] : kModes) {
    if (equals_ignoring_case(*text, name)) return edit;
  }
  return wire::invalid_query(kMode, *text);
}

wire::Result<TreeOrder> decode_recursive_order(const Call& call) {
  TreeOrder order;
  auto edit = decode_mode(call);
  if (!edit) return edit.error();
  order.edit = *edit;
  const auto acl = call.headers().find("x-ms-acl");
  if (!acl) return wire::missing_header("x-ms-acl");
  auto entries = posix::parse_entries(*acl, order.edit);
  if (!entries) return acl_error(entries.error());
  // A list that nothing could take is refused as a whole.
  if (order.edit != posix::Edit::kRemove) {
    auto tried = posix::edited(posix::AccessControl(), order.edit, *entries, true);
    if (!tried) return acl_error(tried.error());
  }
  order.access.entries = std::move(*entries);
  constexpr std::string_view kMost = "maxRecords";
  if (const auto text = call.query.find(kMost); text && !text->empty()) {
    const auto most = parse_uint(*text);
    if (!most || *most == 0) return wire::invalid_query(kMost, *text);
    order.most = std::min(*most, kMaxRecords);
  }
  auto goes_on = decode_flag(call, "forceFlag");
  if (!goes_on) return goes_on.error();
  order.goes_on = *goes_on;
  if (const auto text = call.query.find("continuation"); text && !text->empty()) {
    auto start = decode_continuation(*text);
    // So the service answers what is no token of its own.
    if (!start || start->empty()) return wire::Error(Code::kInternalError);
    order.start = std::move(*start);
  }
  return order;
}

struct Failed {
  std::string path;
  bool is_directory = false;
  std::string message;
};

struct Done {
  uint64_t directories = 0;
  uint64_t files = 0;
  std::vector<Failed> failed;
  uint64_t paths() const { return directories + files + failed.size(); }
  // Where to go on; nothing at the end.
  std::optional<std::string> next;

  void add(Done more) {
    directories += more.directories;
    files += more.files;
    std::move(more.failed.begin(), more.failed.end(), std::back_inserter(failed));
    next = std::move(more.next);
  }
};

// One commit's worth, from `start` on.
class Step {
 public:
  Step(Call& call, const TreeOrder& order, store::Commit& commit)
      : call_(call), order_(order), commit_(commit) {}

  Task<wire::Result<Done>> run(const std::string& start, size_t most) {
    auto found = co_await blob::find_blob(call_);
    if (!found) co_return found.error();
    const blob::Way& way = *found->place.way();
    const auto key = blob::head_key(found->place);
    commit_.expect(key, found->record);
    blob::guard(way, false, commit_);
    TreeHead top{key, found->record, *found->blob, call_.target.object};
    bool goes_on = true;
    if (start.empty()) goes_on = change(top, false);
    if (goes_on && top.blob.is_directory()) {
      const size_t left = most - static_cast<size_t>(done_.paths());
      auto portion =
          co_await load_portion(call_, found->place.space(), top.blob.node_id, start, left);
      if (!portion) co_return portion.error();
      change_all(std::move(*portion), passes(top.blob));
    }
    co_return std::move(done_);
  }

 private:
  bool passes(const Blob& directory) const { return blob::admit_through(call_, directory).ok(); }

  void change_all(Portion portion, bool enters) {
    Trail<bool> trail;
    const auto enter = [&](const TreeHead& head) {
      const bool came = trail.empty() ? enters : trail.last();
      trail.enter(head.path, came && passes(head.blob));
    };
    for (const TreeHead& head : portion.above) {
      commit_.expect(head.key, head.record);
      enter(head);
    }
    for (TreeHead& head : portion.heads) {
      trail.come_to(head.path);
      const bool came = trail.empty() ? enters : trail.last();
      commit_.expect(head.key, head.record);
      if (!change(head, !came)) return;
      if (head.blob.is_directory()) enter(head);
    }
    if (!portion.next.empty()) done_.next = std::move(portion.next);
  }

  // Changes one path and counts it. False: nothing more is to be done.
  bool change(TreeHead& head, bool out_of_reach) {
    const bool is_directory = head.blob.is_directory();
    auto changed = edit(head.blob, out_of_reach);
    if (!changed) {
      done_.failed.push_back({full_path(head), is_directory, changed.error().message});
      return order_.goes_on;
    }
    if (*changed) commit_.put(head.key, service::to_record(head.blob));
    ++(is_directory ? done_.directories : done_.files);
    return true;
  }

  // Whether it is another afterwards.
  wire::Result<bool> edit(Blob& blob, bool out_of_reach) const {
    if (out_of_reach) return blob::not_admitted();
    if (auto allowed = may_set(call_, order_.access, blob); !allowed) return allowed.error();
    auto& control = blob.node->access;
    auto edited = posix::edited(control, order_.edit, *order_.access.entries, blob.is_directory());
    if (!edited) return acl_error(edited.error());
    const bool changed = *edited != control;
    control = std::move(*edited);
    return changed;
  }

  std::string full_path(const TreeHead& head) const {
    std::string path = call_.target.object;
    while (path.ends_with('/')) path.pop_back();
    if (head.path == call_.target.object) return path;
    return path.empty() ? head.path : path + "/" + head.path;
  }

  Call& call_;
  const TreeOrder& order_;
  store::Commit& commit_;
  Done done_;
};

Task<wire::Result<Done>> change_portion(Call& call, const TreeOrder& order,
                                        const std::string& start, size_t most) {
  auto decide = [&](store::Attempt& attempt) -> Task<wire::Result<Done>> {
    // The less is done at once, the less can come between.
    if (!attempt.is_first()) most = std::max<size_t>(1, most / 2);
    Step step(call, order, attempt.commit);
    co_return co_await step.run(start, most);
  };
  co_return co_await store::transact(call, decide);
}

std::string encode_done(const Done& done) {
  std::string body;
  wire::JsonWriter json(body);
  const auto count = [](uint64_t number) { return static_cast<int64_t>(number); };
  json.begin_object();
  json.key("directoriesSuccessful").integer(count(done.directories));
  json.key("failedEntries").begin_array();
  for (const Failed& failed : done.failed) {
    json.begin_object();
    json.member("errorMessage", failed.message);
    json.member("name", failed.path);
    json.member("type", failed.is_directory ? "DIRECTORY" : "FILE");
    json.end_object();
  }
  json.end_array();
  json.key("failureCount").integer(count(done.failed.size()));
  json.key("filesSuccessful").integer(count(done.files));
  json.end_object();
  return body + "\n";
}

}  // namespace

Outcome set_access_control_recursive(Call& call) {
  auto order = decode_recursive_order(call);
  if (!order) co_return order.error();
  if (auto base = blob::require_base(call); !base) co_return base.error();
  if (is_of_one_path(call.caller)) co_return wire::Error(Code::kAuthorizationFailure);
  if (auto has = co_await require_hierarchy(call); !has) co_return has.error();
  Done done;
  done.next = order->start;
  // At least one portion, however little time there is.
  do {
    const std::string start = *done.next;
    const auto left = static_cast<size_t>(order->most - done.paths());
    auto more = co_await change_portion(call, *order, start, std::min(kPortion, left));
    if (!more) co_return more.error();
    done.add(std::move(*more));
  } while (done.next && done.paths() < order->most && !call.deadline.over());
  http::Reply reply(200);
  reply.header("x-ms-namespace-enabled", "true");
  if (done.next) encode_continuation(reply, *done.next);
  reply.body = encode_done(done);
  co_return reply;
}

}  // namespace kyanite::datalake
