// Page blobs of more leaves than one commit takes.
#include <gtest/gtest.h>

#include <algorithm>

#include "blob/test_support.h"
#include "content/graves.h"

namespace kyanite::blob {
namespace {

class CountingStore final : public store::MemoryStore {
 public:
  Task<store::Result<void>> commit(store::Commit commit) override {
    largest = std::max(largest, commit.writes.size());
    return MemoryStore::commit(std::move(commit));
  }
  size_t largest = 0;
};

constexpr uint64_t kGrid = content::kGridBytes;
constexpr uint64_t kLeaves = content::kMaxLeavesInPlace + 10;

std::string range(uint64_t offset, uint64_t count) {
  return "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + count - 1);
}

TEST(LargePageBlobs, AreClearedAndCutInPortions) {
  CountingStore store;
  TestService blobs(store);
  ASSERT_EQ(blobs.make_container("box").outcome(), "201");
  ASSERT_EQ(blobs
                .send({"PUT",
                       "box/pages",
                       {},
                       {{"x-ms-blob-type", "PageBlob"},
                        {"x-ms-blob-content-length", std::to_string(kLeaves * kGrid)}}})
                .outcome(),
            "201");
  const std::string page(512, 'x');
  for (uint64_t i = 0; i < kLeaves; ++i) {
    ASSERT_EQ(
        blobs
            .send({"PUT",
                   "box/pages",
                   "comp=page",
                   {{"x-ms-page-write", "update"}, {"x-ms-range", range(i * kGrid, page.size())}},
                   page})
            .outcome(),
        "201");
  }
  ASSERT_EQ(blobs
                .send({"PUT",
                       "box/copy",
                       {},
                       {{"x-ms-copy-source", "http://127.0.0.1:10000/account/box/pages"}}})
                .status,
            202);
  store.largest = 0;
  const auto pages = [&](const std::string& blob) {
    return blobs.send({"GET", blob, "comp=pagelist"}).body;
  };
  ASSERT_EQ(blobs
                .send({"PUT",
                       "box/pages",
                       "comp=page",
                       {{"x-ms-page-write", "clear"},
                        {"x-ms-range", range(512, (kLeaves - 1) * kGrid - 512)}}})
                .outcome(),
            "201");
  EXPECT_LE(store.largest, content::kMaxLeavesPerCommit + 10);
  const std::string last = std::to_string((kLeaves - 1) * kGrid);
  EXPECT_NE(pages("box/pages")
                .find("<Start>0</Start><End>511</End></PageRange><PageRange><Start>" + last + "<"),
            std::string::npos);
  ASSERT_EQ(
      blobs.send({"PUT", "box/copy", "comp=properties", {{"x-ms-blob-content-length", "512"}}})
          .outcome(),
      "200");
  EXPECT_LE(store.largest, content::kMaxLeavesPerCommit + 10);
  EXPECT_NE(pages("box/copy").find("<Start>0</Start><End>511</End></PageRange></PageList>"),
            std::string::npos);
  // What they were before is left to the job that removes it.
  const auto all = store.everything();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const auto& each) { return each.key.family() == content::kGraves; }),
            2);
}

}  // namespace
}  // namespace kyanite::blob
