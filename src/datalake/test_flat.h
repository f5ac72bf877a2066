// File systems without hierarchical namespace, where directories are only names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "datalake/test_support.h"

namespace kyanite::datalake {

inline std::vector<std::string> numbered(const std::string& prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(prefix + std::to_string(1000 + i));
  return names;
}

class TestFlat : public TestLake {
 public:
  TestFlat() { be_flat(); }
  explicit TestFlat(store::Store& store) : TestLake(store) { be_flat(); }

  void set(const service::AccountSettings& settings) {
    around.context.settings = service::SettingsTable(settings);
  }
  void keep_deleted() {
    EXPECT_EQ(send({"PUT",
                    "",
                    "restype=service&comp=properties",
                    {},
                    "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                    "<Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>"})
                  .outcome(),
              "202");
  }
  // Files hold their own paths. A slash at the end makes a directory.
  void write(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      const Request make =
          path.ends_with('/') ? make_directory(path.substr(0, path.size() - 1)) : put(path, path);
      ASSERT_EQ(send(make).outcome(), "201") << path;
    }
  }
  // All blobs that are seen, as "a/ a/b c "; a blob that says that it is a directory has a slash.
  std::string names(const std::string& container = "flat") {
    std::string names;
    for (const auto& [name, head] : heads(container))
      names += name + (blob::is_folder(head) ? "/ " : " ");
    return names;
  }
  std::map<std::string, blob::Blob> heads(const std::string& container) {
    std::map<std::string, blob::Blob> all;
    auto looked = RunLoop::run(around.context.store.look([&](const store::View& view) {
      all.clear();
      const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily,
                           container);
      const auto space = store::decode<blob::Container>((*view.get(key))->value)->space;
      auto cursor = view.scan(store::Range::family(space, blob::kHeads));
      for (; cursor->valid(); cursor->next()) {
        const auto at = store::Key::from_bytes(std::string(cursor->key()));
        auto head = store::decode<blob::Blob>((*cursor->record())->value).value();
        if (at.row().empty() && blob::is_visible(head, around.clock.now()))
          all.emplace(at.partition(), std::move(head));
      }
      return cursor->status();
    }));
    EXPECT_TRUE(looked.ok());
    return all;
  }
  std::string content(const std::string& path) { return send({"GET", path}).body; }
  // Goes on as long as it is told to. How many requests it took, and the last answer.
  std::pair<int, Answer> all_pages(Request request) {
    const std::string query = request.query;
    for (int pages = 1;; ++pages) {
      auto answer = send(request);
      const auto next = answer.header("x-ms-continuation");
      if (next.empty()) return {pages, std::move(answer)};
      request.query = query + "&continuation=" + wire::percent_encode(next);
    }
  }

 private:
  void be_flat() {
    set({});
    for (const char* name : {"flat", "other"})
      EXPECT_EQ(send({"PUT", name, "restype=container"}).outcome(), "201");
  }
};

}  // namespace kyanite::datalake
