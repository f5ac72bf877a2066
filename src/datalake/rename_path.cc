// Path - Rename: PUT /{filesystem}/{path} with x-ms-rename-source
//
// One commit takes the head from its old place and puts it into the new one. What is below a
// directory hangs on its id and does not move, so it does not matter how much that is. Conditions
// and leases of both ends are decided in the same step.
#include <algorithm>

#include "auth/authorize.h"
#include "blob/admission.h"
#include "blob/blob.h"
#include "blob/dead_trees.h"
#include "blob/deletion.h"
#include "datalake/handlers.h"
#include "datalake/rename_flat.h"
#include "datalake/rename_order.h"
#include "transfer/copy_source.h"

namespace kyanite::datalake {

using auth::posix::Act;
using blob::Blob;
using blob::Place;
using blob::Way;
using service::Call;
using wire::Code;

namespace {

// One end of a rename as it was found.
struct End {
  Place place;
  store::RecordPtr record;
  std::optional<Blob> blob;  // Nothing where nothing is, or nothing that is seen.

  const Way& way() const { return *place.way(); }
};

Task<wire::Result<End>> find_end(Call& call) {
  auto place = co_await blob::find_place(call);
  if (!place) co_return place.error();
  auto head = co_await service::load<Blob>(call, blob::head_key(*place));
  if (!head) co_return head.error();
  End end{std::move(*place), std::move(head->record), std::move(head->value)};
  if (end.blob) end.place.identify(end.blob->node_id);
  if (end.blob && !blob::is_visible(*end.blob, call.now)) end.blob.reset();
  co_return std::move(end);
}

// Where the source shall be.
Task<wire::Result<End>> find_destination(Call& call, const Call& from, const RenameOrder& order,
                                         const End& source) {
  call.target.object = order.to;
  auto asked = co_await find_end(call);
  if (!asked || asked->place.way() == nullptr) co_return std::move(asked);
  const bool is_root = asked->way().to_root();
  const bool is_directory = asked->blob && asked->blob->is_directory();
  const bool is_source = asked->blob && source.blob && source.blob->node_id == asked->blob->node_id;
  const bool into = is_root || (order.mode == RenameMode::kPosix && is_directory && !is_source);
  if (!into) co_return std::move(asked);
  call.target.object = path_inside(is_root ? "" : call.target.object, from.target.object);
  co_return co_await find_end(call);
}

// What is taken from its directory and put into another is deleted there and made here.
wire::Result<void> admit_ends(const Call& call, const Call& from, const End& source,
                              const End& destination) {
  auto taken = blob::admit(from, Act::kDelete, source.way(), &*source.blob);
  if (!taken) return taken.error();
  return blob::admit(call, Act::kCreate, destination.way(),
                     destination.blob ? &*destination.blob : nullptr);
}

// Nothing may stand below itself.
wire::Result<void> check_nesting(const End& source, const End& destination) {
  const auto& above = destination.way().directories;
  const bool inside = std::any_of(above.begin(), above.end(), [&](const auto& directory) {
    return directory.blob->node_id == source.blob->node_id;
  });
  if (inside) return wire::Error(Code::kInvalidRenameSourcePath);
  return {};
}

// What stands at the destination makes room.
Task<wire::Result<void>> clear_destination(Call& call, const End& source, const End& destination,
                                           store::Commit& commit) {
  if (!destination.blob) {
    // An expired file.
    if (destination.record != nullptr)
      blob::bury_tree(destination.place.space(), destination.place.id(), call.now, commit);
    co_return wire::Result<void>();
  }
  const Blob& gone = *destination.blob;
  if (gone.is_directory() != source.blob->is_directory())
    co_return wire::Error(Code::kInvalidSourceOrDestinationResourceType);
  if (gone.is_directory()) {
    const blob::SeenDirectory found{blob::head_key(destination.place), destination.record,
                                    std::make_shared<const Blob>(gone)};
    auto empty = co_await blob::require_empty(call, found);
    if (!empty && empty.error().code == Code::kDirectoryNotEmpty)
      co_return wire::Error(Code::kPathAlreadyExists);
    co_return std::move(empty);
  }
  auto heads = co_await blob::list_snapshots(call, destination.place);
  if (!heads) co_return heads.error();
  heads->push_back({{}, destination.record, gone});
  // What is overwritten is not kept where there are directories, only what is deleted.
  const account::RetentionPolicy none;
  co_return co_await blob::delete_heads(call, destination.place, std::move(*heads), none, commit);
}

// What is to be, of what was found at both ends.
Task<wire::Result<Blob>> move(Call& call, Call& from, const RenameOrder& order, const End& source,
                              const End& destination, store::Commit& commit) {
  const bool moves_into = call.target.object != order.to;
  auto reached = check_rename_reach(call, from, source.blob->is_directory(), moves_into);
  if (!reached) co_return reached.error();
  if (auto admitted = admit_ends(call, from, source, destination); !admitted)
    co_return admitted.error();
  if (auto passed = blob::check_blob(from, order.source, source.blob); !passed)
    co_return passed.error();
  // Blocks that wait at the destination are a blob that is replaced, as by all that makes one.
  auto waiting = co_await blob::find_uncommitted(call, destination.place, commit);
  if (!waiting) co_return waiting.error();
  if (destination.blob) waiting->reset();
  auto passed = *waiting ? blob::check_uncommitted(call, order.destination, **waiting)
                         : blob::check_blob(call, order.destination, destination.blob);
  if (!passed) co_return passed.error();
  if (auto apart = check_nesting(source, destination); !apart) co_return apart.error();
  const auto from_key = blob::head_key(source.place);
  const auto to_key = blob::head_key(destination.place);
  if (destination.blob && from_key != to_key && !auth::may_overwrite(call.caller))
    co_return wire::Error(Code::kUnauthorizedBlobOverwrite);
  Blob moved = *source.blob;
  if (order.properties) moved.metadata = *order.properties;
  moved.node->deleting = false;
  moved.node->transaction = order.transaction;
  if (moved.is_directory()) ++moved.node->moves;
  commit.expect(from_key, source.record);
  commit.expect(to_key, destination.record);
  blob::guard(source.way(), false, commit);
  blob::guard(destination.way(), true, commit);
  if (from_key == to_key) {
    if (moved.is_directory()) co_return wire::Error(Code::kInvalidRenameSourcePath);
  } else {
    auto cleared = co_await clear_destination(call, source, destination, commit);
    if (!cleared) co_return cleared.error();
    auto dropped = co_await blob::drop_blocks(call, destination.place, commit);
    if (!dropped) co_return dropped.error();
    commit.remove(from_key);
  }
  // A lease is of a name: that of the source ends, that of the destination goes on.
  moved.lease = destination.blob ? destination.blob->lease
                : *waiting       ? (*waiting)->lease
                                 : headers::StoredLease();
  commit.put(to_key, service::to_record(moved));
  co_return std::move(moved);
}

Task<wire::Result<Blob>> decide(Call& call, Call& from, const RenameOrder& order,
                                store::Attempt& attempt) {
  auto source = co_await find_end(from);
  if (!source && source.error().code == Code::kBlobNotFound)
    co_return wire::Error(Code::kSourcePathNotFound);
  if (!source) co_return source.error();
  const bool is_root = source->place.way() != nullptr && source->way().to_root();
  if (!source->blob || is_root) co_return wire::Error(Code::kSourcePathNotFound);
  auto destination = co_await find_destination(call, from, order, *source);
  if (!destination && destination.error().code == Code::kBlobNotFound) {
    wire::Error error(Code::kRenameDestinationParentPathNotFound);
    co_return co_await blob::refused(from, source->place, source->record, std::move(error));
  }
  if (!destination) co_return destination.error();
  if (source->place.way() == nullptr || destination->place.way() == nullptr) {
    co_return wire::Error(Code::kNotImplemented)
        .saying("Between file systems with hierarchical namespace and without nothing is renamed.");
  }
  auto moved = co_await move(call, from, order, *source, *destination, attempt.commit);
  if (moved) co_return std::move(moved);
  // Neither end may have changed while the other was looked at.
  auto error = co_await blob::refused(from, source->place, source->record, moved.error());
  co_return co_await blob::refused(call, destination->place, destination->record, std::move(error));
}

}  // namespace

Outcome rename_path(Call& call) {
  auto url = decode_rename_source(call);
  if (!url) co_return url.error();
  auto order = decode_rename_order(call);
  if (!order) co_return order.error();
  transfer::SourceCall source_call(call, *url, *call.service);
  Call& source = source_call.call();
  if (auto resolved = transfer::resolve_source(source); !resolved) co_return resolved.error();
  source.operation = call.operation;
  // What is renamed is the path itself, with its snapshots.
  if (auto base = blob::require_base(call); !base) co_return base.error();
  if (auto base = blob::require_base(source); !base) co_return base.error();
  if (source.target.account != call.target.account || source.target.object.empty())
    co_return wire::invalid_header(kRenameSource, call.headers().get(kRenameSource));
  const bool own_credentials = source.query.has("sig");
  if (auto allowed = co_await transfer::authorize_source(call, source, !own_credentials); !allowed)
    co_return allowed.error();
  if (auto reached = check_source_caller(call, source, own_credentials); !reached)
    co_return reached.error();
  const auto left = co_await blob::find_container(source);
  if (!left) co_return left.error();
  const auto entered = co_await blob::find_container(call);
  if (!(*left)->hierarchical && entered && !(*entered)->hierarchical) {
    const FlatEnd from{source, (*left)->space};
    co_return co_await rename_flat(from, {call, (*entered)->space}, *order);
  }
  auto deciding = [&](store::Attempt& attempt) { return decide(call, source, *order, attempt); };
  auto moved = co_await store::transact(call, deciding);
  if (!moved) co_return moved.error();
  http::Reply reply(201);
  blob::encode_changed(reply, moved->changed);
  co_return reply;
}

}  // namespace kyanite::datalake
