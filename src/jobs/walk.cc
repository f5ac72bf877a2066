#include "jobs/walk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "store/fields.h"

namespace kyanite::jobs {

namespace {

// The cursor of walk_partitions().
struct Position {
  std::string name;
  std::string key;
  template <class Io>
  void fields(Io& io) {
    io(1, name);
    io(2, key);
  }
};

// The first partition at or after the name.
Task<store::Result<std::optional<Partition>>> find_partition(store::Store& store,
                                                             store::SpaceId space,
                                                             store::Family family,
                                                             std::string name) {
  std::optional<Partition> found;
  auto range = store::Range::family(space, family);
  range.start_at(store::Key(space, family, name).bytes());
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    found.reset();
    auto cursor = view.scan(range);
    if (!cursor->valid()) return cursor->status();
    found.emplace();
    found->name = store::Key::from_bytes(std::string(cursor->key())).partition();
    auto record = cursor->record();
    if (record) found->record = std::move(*record);
    if (!record && record.error() != store::Error::kCorrupt) return record.error();
    return {};
  };
  if (auto looked = co_await store.look(look); !looked) co_return looked.error();
  co_return std::move(found);
}

}  // namespace

Task<store::Result<bool>> walk(Step& step, std::vector<store::Range> ranges, std::string& from,
                               See see) {
  const auto snapshot = step.store().snapshot();
  bool at_end = false;
  bool goes_on = true;
  const store::Look look = [&](const store::View& view) -> store::Result<void> {
    for (auto range : ranges) {
      range.start_at(from);
      if (range.empty()) continue;
      auto cursor = view.scan(range);
      for (; cursor->valid(); cursor->next()) {
        step.count_look();
        auto seen = see(view, *cursor);
        if (!seen && seen.error() != store::Error::kCorrupt) return seen.error();
        if (!seen) step.count_unreadable();
        goes_on = !seen || *seen;
        from.assign(cursor->key()).push_back('\0');
        if (!goes_on || !step.may_go_on() || view.enough()) return {};
      }
      if (auto status = cursor->status(); !status) return status;
    }
    at_end = true;
    return {};
  };
  while (!at_end && goes_on && step.may_go_on()) {
    if (auto looked = co_await snapshot->scan(look); !looked) co_return looked.error();
  }
  co_return at_end;
}

Task<store::Result<bool>> walk_partitions(Step& step, store::SpaceId space, store::Family family,
                                          Visit visit) {
  auto at = store::decode<Position>(step.cursor).value_or(Position());
  while (step.may_go_on()) {
    auto next = co_await find_partition(step.store(), space, family, at.name);
    if (!next) co_return next.error();
    if (!*next) co_return true;
    if ((*next)->name != at.name) at = {(*next)->name, {}};
    // Empty ones cost something as well.
    step.count_look();
    store::Result<bool> through = true;
    if ((*next)->record != nullptr) {
      through = co_await visit(step, std::move(**next), at.key);
    } else {
      step.count_unreadable();
    }
    if (through && *through) at = {at.name + '\0', {}};
    step.cursor = store::encode(at);
    if (!through) co_return through.error();
  }
  co_return false;
}

}  // namespace kyanite::jobs
