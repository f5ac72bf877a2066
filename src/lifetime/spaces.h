// The spaces of an account's containers (queues, shares), for jobs that look at what is in them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/task.h"
#include "content/graves.h"
#include "jobs/walk.h"
#include "lifetime/directory.h"
#include "store/fields.h"

namespace kyanite::lifetime {

// A jobs::Visit of one space: `name` is that of its container.
using VisitSpace = std::function<Task<store::Result<bool>>(jobs::Step& step, std::string name,
                                                           store::SpaceId space, std::string& key)>;

inline Task<store::Result<bool>> pass_over(jobs::Step& step) {
  step.count_unreadable();
  co_return true;
}

// Visits the spaces of the things of one kind, in the order of their names. T is the record of one.
template <class T>
Task<store::Result<bool>> walk_spaces(jobs::Step& step, store::Family family, VisitSpace visit) {
  const jobs::Visit each = [&visit](jobs::Step& at, jobs::Partition owner, std::string& key) {
    const auto value = store::decode<T>(owner.record->value);
    if (!value) return pass_over(at);
    return visit(at, std::move(owner.name), value->space, key);
  };
  co_return co_await jobs::walk_partitions(step, directory_space(step.account()), family, each);
}

// The job that removes contents that nothing names any more (content/graves.h).
template <class T>
jobs::Job clear_graves_job(std::string name, store::Family family) {
  constexpr int64_t kRestSeconds = 30;
  const VisitSpace visit = [](jobs::Step& step, std::string, store::SpaceId space,
                              std::string& key) { return content::clear_graves(step, space, key); };
  return {std::move(name), kRestSeconds, {.changes = 10'000}, [family, visit](jobs::Step& step) {
            return walk_spaces<T>(step, family, visit);
          }};
}

}  // namespace kyanite::lifetime
