#include "datalake/rename_flat.h"

#include <utility>

#include "auth/authorize.h"
#include "base/bytes.h"
#include "blob/names.h"
#include "blob/new_blob.h"
#include "datalake/flat_tree.h"
#include "datalake/tree_token.h"

namespace kyanite::datalake {

using blob::Blob;
using blob::Change;
using blob::Checks;
using blob::Place;
using service::Call;
using wire::Code;

namespace {

Checks with_rules(Checks checks, const blob::Rules& rules) {
  checks.rules = rules;
  return checks;
}

// Conditions are decided by the first step.
Checks without_conditions(Checks checks) {
  const auto lease_id = std::move(checks.lease_id);
  checks = unconditional(checks.rules);
  checks.lease_id = lease_id;
  return checks;
}

class FlatRename {
 public:
  FlatRename(FlatEnd from, FlatEnd to, const RenameOrder& order)
      : from_(from),
        to_(to),
        order_(order),
        leaving_(with_rules(order.source, leaving_rules())),
        coming_(with_rules(order.destination, coming_rules())),
        mover_(from, to) {
    std::string_view path = from.call.target.object;
    while (path.ends_with('/')) path.remove_suffix(1);
    source_.name = path;
  }

  Outcome run() {
    auto token = read_token(to_.call, bound());
    if (!token) co_return token.error();
    if (*token) co_return co_await go_on(**token);
    auto begin = [&](store::Attempt& attempt) { return decide(attempt.commit); };
    auto begun = co_await store::transact(to_.call, begin);
    if (!begun) co_return begun.error();
    if (!*begun) co_return co_await move_file();
    co_return co_await move_tree({});
  }

 private:
  // What a continuation holds for.
  std::string bound() const {
    std::string bound = "kyanite flat rename 1\n";
    for (const std::string_view part :
         {std::string_view(from_.call.target.container), std::string_view(source_.name),
          std::string_view(to_.call.target.container), std::string_view(order_.to)}) {
      append_bound(bound, part);
    }
    return bound;
  }
  // It says where everything goes, and from which name on there is more.
  Outcome go_on(std::string_view said) {
    uint64_t length = 0;
    if (!read_varint(said, length) || length > said.size()) co_return invalid_token(to_.call);
    auto reached = check_rename_reach(to_.call, from_.call, true, false);
    if (!reached) co_return reached.error();
    auto destination = co_await find_flat_path(to_.call, to_.space, said.substr(0, length));
    if (!destination) co_return destination.error();
    destination_ = std::move(*destination);
    if (!is_arriving(destination_.blob)) co_return co_await be_over();
    co_return co_await move_tree(std::string(said.substr(length)));
  }
  // The rename that a continuation is of has ended. What is at the source by now is none of it.
  Outcome be_over() {
    auto source = co_await find_flat_path(from_.call, from_.space, source_.name);
    if (!source) co_return source.error();
    if (source->kind != FlatPath::Kind::kNothing) co_return invalid_token(to_.call);
    co_return http::Reply(201);
  }
  http::Reply continued(std::string_view next) const {
    std::string said;
    append_bound(said, destination_.name);
    said += next;
    http::Reply reply(201);
    reply.header("x-ms-continuation", write_token(to_.call, bound(), said));
    return reply;
  }

  std::string arrives_from() const { return from_.call.target.container + "/" + source_.name; }
  bool is_arriving(const std::optional<Blob>& blob) const {
    return blob && marks_way(*blob) && blob->arrival->from == arrives_from();
  }
  bool is_same_container() const { return from_.space == to_.space; }

  // The first step. False: the source is a file, of which nothing is decided yet.
  Task<wire::Result<bool>> decide(store::Commit& commit) {
    auto source = co_await find_flat_path(from_.call, from_.space, source_.name);
    if (!source) co_return source.error();
    source_ = std::move(*source);
    if (auto found = co_await find_destination(); !found) co_return found.error();
    const bool resumes = is_arriving(destination_.blob);
    const bool is_tree = source_.is_directory() || resumes;
    auto reached = check_rename_reach(to_.call, from_.call, is_tree, moves_into_);
    if (!reached) co_return reached.error();
    if (auto named = blob::check_blob_name(destination_.name); !named) co_return named.error();
    if (resumes) co_return true;
    if (source_.kind == FlatPath::Kind::kNothing) co_return wire::Error(Code::kSourcePathNotFound);
    if (is_same_container() && source_.name == destination_.name)
      co_return wire::Error(Code::kInvalidRenameSourcePath);
    if (source_.kind == FlatPath::Kind::kFile && !destination_.is_directory()) co_return false;
    if (auto passed = co_await check_source(); !passed) co_return passed.error();
    if (auto passed = co_await check_destination(); !passed) co_return passed.error();
    if (auto may = co_await check_below(); !may) co_return may.error();
    auto marked = co_await mark_arrival(commit);
    if (!marked) co_return marked.error();
    co_return true;
  }

  // What was asked for, or a path inside of it.
  Task<wire::Result<void>> find_destination() {
    moves_into_ = order_.to.empty();
    if (!moves_into_) {
      auto asked = co_await find_flat_path(to_.call, to_.space, order_.to);
      if (!asked) co_return asked.error();
      destination_ = std::move(*asked);
      const bool is_source = is_same_container() && destination_.name == source_.name;
      moves_into_ = order_.mode == RenameMode::kPosix && destination_.is_directory() &&
                    !is_source && !is_arriving(destination_.blob);
    }
    if (!moves_into_) co_return wire::Result<void>();
    const std::string directory = order_.to.empty() ? "" : destination_.name;
    auto inside =
        co_await find_flat_path(to_.call, to_.space, path_inside(directory, source_.name));
    if (!inside) co_return inside.error();
    destination_ = std::move(*inside);
    co_return wire::Result<void>();
  }

  // The directory itself may leave: else it would be refused when all that lay below has left.
  Task<wire::Result<void>> check_source() {
    auto snapshots = co_await blob::list_snapshots(from_.call, Place(from_.space, source_.name));
    if (!snapshots) co_return snapshots.error();
    const bool has_snapshots = source_.kind == FlatPath::Kind::kMarked && !snapshots->empty();
    co_return mover_.check_leaving(leaving_, *source_.blob, has_snapshots);
  }

  // What stands at the destination, where the source or that is a directory.
  Task<wire::Result<void>> check_destination() {
    if (auto passed = blob::check_blob(to_.call, coming_, destination_.blob); !passed)
      co_return passed.error();
    if (is_same_container() && destination_.name.starts_with(source_.below()))
      co_return wire::Error(Code::kInvalidRenameSourcePath);
    if (destination_.kind == FlatPath::Kind::kNothing) co_return wire::Result<void>();
    if (!auth::may_overwrite(to_.call.caller))
      co_return wire::Error(Code::kUnauthorizedBlobOverwrite);
    if (source_.is_directory() != destination_.is_directory())
      co_return wire::Error(Code::kInvalidSourceOrDestinationResourceType);
    auto empty = co_await is_flat_empty(to_.call, to_.space, destination_.below());
    if (!empty) co_return empty.error();
    // One that others are on their way to is not empty either.
    if (!*empty || destination_.blob->arrival) co_return wire::Error(Code::kPathAlreadyExists);
    co_return wire::Result<void>();
  }

  // What lies below may leave, and bear its new name.
  Task<wire::Result<void>> check_below() {
    const Checks below = unconditional(leaving_rules());
    const MayTake may = [&](const FlatHead& head) -> wire::Result<void> {
      auto leaves = mover_.check_leaving(below, head.blob, head.has_snapshots);
      if (!leaves) return leaves.error();
      return blob::check_blob_name(moved_name(head.name));
    };
    co_return co_await check_first_page(from_.call, from_.space, source_.below(), may);
  }

  // From here on it is under way.
  Task<wire::Result<void>> mark_arrival(store::Commit& commit) {
    Change coming(Place(to_.space, destination_.name), commit);
    if (auto begun = co_await blob::begin_change(to_.call, coming_, coming); !begun)
      co_return begun.error();
    if (!is_same(coming.found, destination_.record)) co_return service::decide_again();
    if (is_same_container())
      commit.expect(store::Key(from_.space, blob::kHeads, source_.name), source_.record);
    const bool stays = order_.properties || coming.blob;
    blob::NewBlob fresh;
    fresh.metadata = marked(order_.properties.value_or(headers::Metadata()));
    coming.blob = blob::make_blob(to_.call, blob::BlobType::kBlock, fresh, coming.blob);
    coming.blob->version = {};
    coming.blob->arrival =
        blob::Arrival{arrives_from(), source_.kind == FlatPath::Kind::kImplied && !stays};
    co_return co_await blob::finish_change(to_.call, coming_, coming);
  }

  std::string moved_name(std::string_view name) const {
    return destination_.name + std::string(name.substr(source_.name.size()));
  }

  Outcome move_file() {
    FlatMove move{source_.name, destination_.name, FlatMove::Over::kAnything, order_.properties};
    auto moved = co_await mover_.move(std::span(&move, 1), leaving_, coming_);
    if (!moved) co_return moved.error();
    if (!moved->last) co_return wire::Error(Code::kSourcePathNotFound);
    http::Reply reply(201);
    blob::encode_changed(reply, moved->last->changed);
    co_return reply;
  }

  // From the name `at` on.
  Outcome move_tree(std::string at) {
    FlatPage page(to_.call);
    do {
      auto portion = co_await load_flat_portion(from_.call, from_.space, source_.below(), at);
      if (!portion) co_return portion.error();
      auto moved = co_await move_portion(*portion, page);
      const bool timed_out = !moved && moved.error().code == Code::kOperationTimedOut;
      if (timed_out && page.has_done()) co_return continued(at);
      if (!moved) co_return moved.error();
      at = std::move(portion->next);
    } while (!at.empty() && !page.is_over());
    if (!at.empty()) co_return continued(at);
    co_return co_await finish();
  }

  // Nothing more goes into a container that is deleted meanwhile.
  Task<wire::Result<void>> confirm_destination() {
    const auto container = co_await blob::find_container(to_.call);
    if (!container) co_return container.error();
    if ((*container)->space != to_.space) co_return wire::Error(Code::kContainerNotFound);
    co_return wire::Result<void>();
  }

  Task<wire::Result<void>> move_portion(const FlatPortion& portion, FlatPage& page) {
    const Checks leaving = unconditional(leaving_rules());
    const Checks coming = unconditional(coming_rules());
    std::vector<FlatMove> moves;
    for (const FlatHead& head : portion.heads)
      moves.push_back({head.name, moved_name(head.name), FlatMove::Over::kNothing});
    if (auto stays = co_await confirm_destination(); !stays) co_return stays.error();
    for (std::span<const FlatMove> rest(moves); !rest.empty();) {
      auto moved = co_await mover_.move(rest, leaving, coming);
      if (!moved) co_return moved.error();
      rest = rest.subspan(moved->taken);
      page.count(moved->taken);
    }
    co_return wire::Result<void>();
  }

  // The directory itself comes last: as long as something is left of it, it is there.
  Outcome finish() {
    auto source = co_await service::load<Blob>(from_.call,
                                               store::Key(from_.space, blob::kHeads, source_.name));
    if (!source) co_return source.error();
    http::Reply reply(201);
    if (source->value && blob::is_folder(*source->value)) {
      FlatMove move{source_.name, destination_.name, FlatMove::Over::kDirectory, order_.properties,
                    arrives_from()};
      auto moved = co_await mover_.move(std::span(&move, 1), without_conditions(leaving_),
                                        without_conditions(coming_));
      if (!moved) co_return moved.error();
      if (moved->last && is_same_container()) {
        blob::encode_changed(reply, moved->last->changed);
        co_return reply;
      }
    }
    auto begin = [&](store::Attempt& attempt) { return end_arrival(attempt.commit); };
    auto ended = co_await store::transact(to_.call, begin);
    if (!ended) co_return ended.error();
    if (ended->changed.set()) blob::encode_changed(reply, ended->changed);
    co_return reply;
  }

  // What is left to be done where the directory's own blob did not come as one step, or there is
  // none. The result is what stays, or nothing.
  Task<wire::Result<Blob>> end_arrival(store::Commit& commit) {
    blob::Rules rules = coming_rules();
    rules.keep = blob::Keep::kNothing;
    const Checks checks = with_rules(without_conditions(coming_), rules);
    Change coming(Place(to_.space, destination_.name), commit);
    if (auto begun = co_await blob::begin_change(to_.call, checks, coming); !begun)
      co_return begun.error();
    if (!is_arriving(coming.blob)) co_return coming.blob.value_or(Blob());
    if (coming.blob->arrival->implied) {
      coming.blob.reset();
    } else {
      coming.blob->arrival.reset();
    }
    if (auto done = co_await blob::finish_change(to_.call, checks, coming); !done)
      co_return done.error();
    co_return coming.blob.value_or(Blob());
  }

  FlatEnd from_;
  FlatEnd to_;
  const RenameOrder& order_;
  const Checks leaving_;
  const Checks coming_;
  FlatMover mover_;
  FlatPath source_;
  FlatPath destination_;
  bool moves_into_ = false;
};

}  // namespace

Outcome rename_flat(FlatEnd from, FlatEnd to, const RenameOrder& order) {
  FlatRename rename(from, to, order);
  co_return co_await rename.run();
}

}  // namespace kyanite::datalake
