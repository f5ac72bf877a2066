#include "tree/handle_info.h"

#include <gtest/gtest.h>

#include "store/interleaving.h"
#include "tree/handles_test_support.h"
#include "tree/permissions.h"

namespace kyanite::tree {
namespace {

class HandleInfo : public testing::Test {
 protected:
  std::string set(Opened& opened, const BasicOrder& order) {
    store::Occasion occasion(store_, files_.lines, files_.clock);
    return outcome(RunLoop::run(set_basic(occasion, opened, order)));
  }

  store::MemoryStore store_;
  HandleTree files_{store_};
};

TEST_F(HandleInfo, TimesAreSetFrozenAndThawed) {
  Opened file = files_.open("file");
  const Time set_to = Time::from_unix_seconds(1'000'000'000);
  BasicOrder order;
  order.written = {TimeOrder::kSet, set_to};
  order.attributes = kReadOnlyAttribute | kDirectoryAttribute;
  files_.clock.advance_seconds(5);
  EXPECT_EQ(set(file, order), "ok");
  Entry entry = files_.state(file);
  EXPECT_EQ(entry.smb.written, set_to);
  EXPECT_EQ(entry.smb.changed, files_.clock.now());
  EXPECT_EQ(entry.smb.attributes, kReadOnlyAttribute);
  // What was set stays, whatever is written through this handle,
  EXPECT_EQ(files_.write(file, 0, "x"), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  EXPECT_EQ(files_.state(file).smb.written, set_to);
  // until it is thawed.
  order = {};
  order.written = {TimeOrder::kThaw, {}};
  EXPECT_EQ(set(file, order), "ok");
  files_.clock.advance_seconds(5);
  EXPECT_EQ(files_.write(file, 0, "y"), "ok");
  EXPECT_EQ(files_.flush(file), "ok");
  EXPECT_EQ(files_.state(file).smb.written, files_.clock.now());
  EXPECT_EQ(files_.close(file), "ok");
}

TEST_F(HandleInfo, DescriptorsAreReplacedInParts) {
  Opened file = files_.open("file");
  store::Occasion occasion(store_, files_.lines, files_.clock);
  const auto descriptor = [&] {
    const Entry entry = files_.state(file);
    return *RunLoop::run(descriptor_of(occasion, files_.tree, entry));
  };
  const SecurityDescriptor before = descriptor();
  EXPECT_EQ(before, *parse_sddl(default_permission()));
  const auto other = parse_sddl("O:BAG:BUD:(A;;FA;;;WD)");
  ASSERT_TRUE(other);
  const DescriptorParts owner{true, false, false, false};
  EXPECT_EQ(
      outcome(RunLoop::run(set_descriptor(occasion, file, write_descriptor(*other, owner), owner))),
      "ok");
  EXPECT_EQ(descriptor().owner, other->owner);
  EXPECT_EQ(descriptor().group, before.group);
  EXPECT_EQ(descriptor().dacl, before.dacl);
  const DescriptorParts dacl{false, false, true, false};
  EXPECT_EQ(
      outcome(RunLoop::run(set_descriptor(occasion, file, write_descriptor(*other, dacl), dacl))),
      "ok");
  EXPECT_EQ(descriptor().dacl, other->dacl);
  EXPECT_EQ(descriptor().owner, other->owner);
  EXPECT_EQ(outcome(RunLoop::run(set_descriptor(occasion, file, "nonsense", dacl))),
            text_of(Error(Reason::kBadPermission)));
  EXPECT_EQ(
      outcome(RunLoop::run(set_descriptor(occasion, file, write_descriptor(*other, dacl), owner))),
      text_of(Error(Reason::kBadPermission)));
  EXPECT_EQ(files_.close(file), "ok");
}

// Each part comes from somebody else, at once: none is lost.
TEST(HandleInfoInARace, PartsOfADescriptorAreAllKept) {
  const auto other = parse_sddl("O:BAG:BUD:(A;;FA;;;WD)");
  const DescriptorParts owner{true, false, false, false};
  const DescriptorParts dacl{false, false, true, false};
  for (uint64_t seed = 0; seed < 100; ++seed) {
    store::InterleavedStore store;
    HandleTree files(store);
    Opened one = files.open("file");
    Opened two = files.open("file");
    const auto set = [&](Opened& by, DescriptorParts parts) -> Task<void> {
      store::Occasion occasion(store, files.lines, files.clock);
      const std::string binary = write_descriptor(*other, parts);
      EXPECT_EQ(outcome(co_await set_descriptor(occasion, by, binary, parts)), "ok");
    };
    std::vector<Task<void>> tasks;
    tasks.push_back(set(one, owner));
    tasks.push_back(set(two, dacl));
    store::Interleaving(seed).run(std::move(tasks), [] {});
    store::Occasion occasion(store, files.lines, files.clock);
    const Entry entry = files.state(one);
    const auto now = RunLoop::run(descriptor_of(occasion, files.tree, entry));
    ASSERT_TRUE(now.ok());
    EXPECT_EQ(now->owner, other->owner) << seed;
    EXPECT_EQ(now->dacl, other->dacl) << seed;
    EXPECT_EQ(files.close(one), "ok");
    EXPECT_EQ(files.close(two), "ok");
  }
}

}  // namespace
}  // namespace kyanite::tree
