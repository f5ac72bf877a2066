// What one flush takes.
#include "datalake/drafts.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "datalake/test_support.h"

namespace kyanite::datalake {
namespace {

// Puts as many parts of one byte behind the content of the only file as appends would.
void plant_parts(TestLake& lake, uint64_t first, uint64_t count) {
  store::Commit commit;
  auto looked = RunLoop::run(lake.around.context.store.look([&](const store::View& view) {
    auto cursor = view.scan(store::Range::family(blob::lake_space("account"), blob::kHeads));
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      const auto head = store::decode<blob::Blob>((*cursor->record())->value).value();
      if (head.is_directory()) continue;
      const std::string named = key.partition();
      const blob::Place place(blob::lake_space("account"), named, head);
      content::Piece piece;
      piece.length = 1;
      piece.inline_bytes = "x";
      for (uint64_t i = first; i < first + count; ++i)
        put_appended(place, head, i, {piece}, {}, lake.around.clock.now(), commit);
    }
    return store::Result<void>();
  }));
  ASSERT_TRUE(looked.ok());
  ASSERT_EQ(commit.writes.size(), count);
  ASSERT_TRUE(RunLoop::run(lake.around.context.store.commit(std::move(commit))).ok());
}

TEST(Drafts, AFlushTakesFiftyThousandPartsAndNoMore) {
  constexpr uint64_t kMost = 50'000;
  TestLake lake;
  ASSERT_EQ(lake.send(TestLake::make_file("lake/f")).outcome(), "201");
  plant_parts(lake, 0, kMost + 1);
  const auto flush = [&](uint64_t position) {
    return lake
        .send({"PATCH", "lake/f",
               "action=flush&retainUncommittedData=true&position=" + std::to_string(position)})
        .outcome();
  };
  EXPECT_EQ(flush(kMost + 1), "400 InvalidFlushPosition");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, "");
  EXPECT_EQ(flush(kMost), "200");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body.size(), kMost);
  // The rest by another one.
  EXPECT_EQ(flush(kMost + 1), "200");
  EXPECT_EQ(lake.send({"GET", "lake/f"}).body, std::string(kMost + 1, 'x'));
}

}  // namespace
}  // namespace kyanite::datalake
