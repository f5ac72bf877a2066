// A tree over a store in memory, with a clock moved by hand, and requests in words: paths as texts,
// outcomes as texts.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "store/locks.h"
#include "store/memory.h"
#include "store/stored.h"
#include "tree/change.h"
#include "tree/rename.h"
#include "tree/shown_entries.h"

namespace kyanite::tree {

inline std::string text_of(const Error& error) {
  if (const auto* refusal = std::get_if<Refusal>(&error.cause))
    return "refusal " + std::to_string(static_cast<int>(*refusal));
  if (std::holds_alternative<concurrency::LeaseUseError>(error.cause)) return "lease";
  if (const auto* storage = std::get_if<store::Error>(&error.cause)) return describe(*storage);
  switch (std::get<Reason>(error.cause)) {
    case Reason::kNoParent:
      return "no parent";
    case Reason::kNotFound:
      return "not found";
    case Reason::kExists:
      return "exists";
    case Reason::kIsDirectory:
      return "is directory";
    case Reason::kNotEmpty:
      return "not empty";
    case Reason::kIntoItself:
      return "into itself";
    case Reason::kReadOnly:
      return "read-only";
    case Reason::kMayNotReplace:
      return "may not replace";
    default:
      return "reason " + std::to_string(static_cast<int>(std::get<Reason>(error.cause)));
  }
}
template <class T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : text_of(result.error());
}

class TestTree {
 public:
  explicit TestTree(store::Store& store, const NameRules& names = kShareNames)
      : store_(store), tree{7, clock.now(), &open_files, names} {}

  // Each task with lines of its own to wait in, where what holds without any is tested.
  Task<std::string> create(std::string path, bool directory = false, Creation creation = {}) {
    store::KeyedLocks locks;
    store::Occasion occasion(store_, locks, clock);
    creation.directory = directory;
    const Fill fill = [](Entry&, const Way&, store::Commit&) -> Task<Result<void>> {
      co_return Result<void>();
    };
    co_return outcome(co_await create_entry(occasion, tree, parse(path), creation, fill));
  }
  Task<std::string> move(std::string from, std::string to, Kind kind = Kind::kDirectory,
                         Creation destination = {}) {
    store::KeyedLocks locks;
    store::Occasion occasion(store_, locks, clock);
    const Rename order{kind, parse(from), parse(to), {}, std::move(destination)};
    const Retouch retouch = [](Entry&) {};
    co_return outcome(co_await rename(occasion, tree, order, retouch));
  }
  Task<std::string> remove(std::string path, bool directory = false) {
    store::KeyedLocks locks;
    store::Occasion occasion(store_, locks, clock);
    if (directory) co_return outcome(co_await delete_directory(occasion, tree, parse(path)));
    co_return outcome(co_await delete_file(occasion, tree, parse(path), {}));
  }
  Task<std::string> note(std::string path, std::string value) {
    store::KeyedLocks locks;
    store::Occasion occasion(store_, locks, clock);
    const Edit edit = [&](Entry& entry, store::Commit&, const Located&) -> Task<Result<void>> {
      entry.metadata = {{"note", value}};
      touch(entry, occasion.now);
      co_return Result<void>();
    };
    const Rules rules{Kind::kEither};
    co_return outcome(co_await change_entry(occasion, tree, parse(path), rules, edit));
  }
  // What is there, as it is now or as the snapshot of a generation shows it.
  Result<Located> find(const std::string& path, std::optional<Generation> shown = {}) {
    store::Occasion occasion(store_, locks_, clock);
    Tree seen = tree;
    seen.shown = shown;
    return RunLoop::run(locate(occasion, seen, parse(path), Kind::kEither));
  }
  // The names in a directory, each with a blank behind it.
  std::string names(const std::string& path, std::optional<Generation> shown = {}) {
    auto located = find(path, shown);
    if (!located) return outcome(located);
    Tree seen = tree;
    seen.shown = shown;
    std::string listed;
    const store::Look look = [&](const store::View& view) -> store::Result<void> {
      ShownEntries entries(view, seen, located->found.entry->id, "", "");
      while (true) {
        auto next = entries.next();
        if (!next) return next.error();
        if (!*next) return {};
        listed += (*next)->name + " ";
      }
    };
    EXPECT_TRUE(RunLoop::run(store_.look(look)).ok());
    return listed;
  }
  // Changes the share's state, as taking and deleting snapshots do.
  template <class Change>
  auto change_state(Change change) {
    const auto key = state_key(tree.space);
    auto record = RunLoop::run(store_.get(key));
    ShareState state;
    if (*record != nullptr) state = *store::decode<ShareState>((*record)->value);
    store::Commit commit;
    commit.expect(key, *record);
    const auto result = change(state);
    commit.put(key, store::to_record(state));
    EXPECT_TRUE(RunLoop::run(store_.commit(std::move(commit))).ok());
    return result;
  }

  Path parse(const std::string& path) const {
    auto parsed = parse_path(tree.names, path, true);
    EXPECT_TRUE(parsed.ok()) << path;
    return parsed ? *parsed : Path();
  }

 private:
  store::Store& store_;
  store::KeyedLocks locks_;

 public:
  ManualClock clock{Time::from_unix_seconds(1'700'000'000)};
  OpenFiles open_files{clock};
  Tree tree;
};

}  // namespace kyanite::tree
