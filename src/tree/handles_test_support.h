// Files opened, read and written as clients with handles do it, in words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "store/test_support.h"
#include "tree/drafts.h"
#include "tree/file_io.h"
#include "tree/open.h"
#include "tree/open_files_test_support.h"
#include "tree/test_support.h"

namespace kyanite::tree {

// A tree whose handles live on one executor.
class HandleTree : public TestTree {
 public:
  explicit HandleTree(store::Store& store) : TestTree(store), store_(store) {}

  struct Order {
    Disposition disposition = Disposition::kOpenIf;
    Kind kind = Kind::kFile;
    std::string_view access = "RWD";
    std::string_view share = "RWD";
    bool delete_on_close = false;
    Attributes attributes = 0;
    std::optional<Generation> shown = {};
    uint64_t session = 0;
  };
  Task<Result<OpenResult>> try_open(std::string path, Order order) {
    store::Occasion occasion(store_, lines, clock);
    Opening opening;
    opening.path = parse(path);
    opening.disposition = order.disposition;
    opening.kind = order.kind;
    opening.share = set(order.share);
    opening.delete_on_close = order.delete_on_close;
    opening.attributes = order.attributes;
    opening.session = order.session;
    const AccessSet access = set(order.access);
    opening.grant = [access](const Entry*, const Entry&) -> Task<Result<AccessSet>> {
      co_return access;
    };
    Tree seen = tree;
    seen.shown = order.shown;
    co_return co_await tree::open(occasion, seen, opening);
  }
  // What comes of it in words; the handle goes to `opened`.
  Task<std::string> open_in_words(std::string path, Order order, std::optional<Opened>& opened) {
    auto result = co_await try_open(std::move(path), order);
    if (!result) co_return text_of(result.error());
    opened = std::move(result->opened);
    constexpr const char* kWords[] = {"superseded", "opened", "created", "overwritten"};
    co_return kWords[static_cast<int>(result->action)];
  }
  std::string says(const std::string& path, Order order) {
    std::optional<Opened> opened;
    auto said = RunLoop::run(open_in_words(path, order, opened));
    if (opened) close(*opened);
    return said;
  }
  Opened open(const std::string& path) { return open(path, Order()); }
  Opened open(const std::string& path, Order order) {
    auto result = RunLoop::run(try_open(path, order));
    EXPECT_TRUE(result.ok()) << path << ": " << outcome(result);
    return result ? std::move(result->opened) : Opened();
  }
  std::string close(Opened& opened) {
    store::Occasion occasion(store_, lines, clock);
    return outcome(RunLoop::run(tree::close(occasion, opened, false)));
  }

  Task<std::string> write_task(Opened& opened, uint64_t offset, std::string bytes) {
    store::Occasion occasion(store_, lines, clock);
    co_return outcome(co_await tree::write(occasion, opened, offset, bytes));
  }
  std::string write(Opened& opened, uint64_t offset, std::string bytes) {
    return RunLoop::run(write_task(opened, offset, std::move(bytes)));
  }
  Task<std::string> read_task(Opened& opened, uint64_t offset, uint64_t length) {
    store::Occasion occasion(store_, lines, clock);
    auto bytes = co_await tree::read(occasion, opened, offset, length);
    if (!bytes) co_return "! " + text_of(bytes.error());
    std::string text;
    for (const auto& piece : bytes->pieces) text += store::text_of(piece);
    co_return text;
  }
  std::string read(Opened& opened, uint64_t offset = 0, uint64_t length = UINT64_MAX) {
    return RunLoop::run(read_task(opened, offset, length));
  }
  Task<std::string> flush_task(Opened& opened) {
    store::Occasion occasion(store_, lines, clock);
    co_return outcome(co_await tree::flush(occasion, opened));
  }
  std::string flush(Opened& opened) { return RunLoop::run(flush_task(opened)); }
  std::string resize(Opened& opened, uint64_t length) {
    store::Occasion occasion(store_, lines, clock);
    return outcome(RunLoop::run(set_length(occasion, opened, length)));
  }
  std::string clear(Opened& opened, uint64_t from, uint64_t to) {
    store::Occasion occasion(store_, lines, clock);
    return outcome(RunLoop::run(clear_range(occasion, opened, from, to)));
  }
  Task<std::string> rename_task(Opened& opened, std::string to, bool replaces = false) {
    store::Occasion occasion(store_, lines, clock);
    co_return outcome(co_await rename_opened(occasion, opened, parse(to), replaces));
  }
  std::string rename(Opened& opened, const std::string& to, bool replaces = false) {
    return RunLoop::run(rename_task(opened, to, replaces));
  }
  std::string mark(Opened& opened, bool pending = true) {
    store::Occasion occasion(store_, lines, clock);
    return outcome(RunLoop::run(set_delete_pending(occasion, opened, pending, false)));
  }
  Entry state(Opened& opened) {
    store::Occasion occasion(store_, lines, clock);
    auto entry = RunLoop::run(state_of(occasion, opened));
    EXPECT_TRUE(entry.ok());
    return entry ? *entry : Entry();
  }

  // Stores what is older than a second.
  void settle_older() {
    Drafts& drafts = open_files.drafts();
    for (const auto& each : drafts.old(clock.moment(), kTicksPerSecond))
      RunLoop::run(drafts.settle_old(each.file, clock.moment()));
  }
  // Nothing is open, and nothing was left to be stored but the root's times.
  bool is_idle() {
    EXPECT_TRUE(RunLoop::run(open_files.drafts().settle(tree.key(kRootId))).ok());
    return open_files.idle();
  }
  // What is stored, as whoever comes after a crash finds it.
  std::string stored(const std::string& path, std::optional<Generation> shown = {}) {
    auto located = find(path, shown);
    if (!located) return "! " + text_of(located.error());
    const auto& content = located->found.entry->content;
    Tree seen = tree;
    seen.shown = shown;
    auto reader = RunLoop::run(content::Reader::open(store_, seen.content_place(), content, 0,
                                                     content.length, located->found.guard()));
    EXPECT_TRUE(reader.ok());
    std::string text;
    while (true) {
      auto next = RunLoop::run((*reader)->next(false));
      EXPECT_TRUE(next.ok());
      if (!next || os::size_of(*next) == 0) return text;
      text += store::text_of(*next);
    }
  }

  store::KeyedLocks lines;

 private:
  store::Store& store_;
};

}  // namespace kyanite::tree
