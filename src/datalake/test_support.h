// The service of the blob port over a store of the test's choice, with directories, with a clock
// moved by hand, called as the front calls it but for authentication.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "blob/dead_trees.h"
#include "blob/hierarchy.h"
#include "datalake/service.h"
#include "jobs/test_support.h"
#include "service/test_service.h"
#include "store/fields.h"

namespace kyanite::datalake {

using Answer = service::TestAnswer;

class TestLake : public service::TestHost<LakeService> {
 public:
  TestLake() : TestHost(wire::Service::kBlob, "127.0.0.1:10000") { be_hierarchical(); }
  explicit TestLake(store::Store& store)
      : TestHost(wire::Service::kBlob, "127.0.0.1:10000", store) {
    be_hierarchical();
  }

  // The requests most tests make, on paths with the file system in front.
  static Request make_file(const std::string& path) { return {"PUT", path, "resource=file"}; }
  static Request make_directory(const std::string& path) {
    return {"PUT", path, "resource=directory"};
  }
  static Request rename(const std::string& from, const std::string& to) {
    return {"PUT", to, "mode=legacy", {{"x-ms-rename-source", "/" + from}}};
  }
  static Request remove(const std::string& path, bool recursive = true) {
    return {"DELETE", path, recursive ? "recursive=true" : "recursive=false"};
  }
  static Request put(const std::string& path, const std::string& body) {
    return {"PUT", path, {}, {{"x-ms-blob-type", "BlockBlob"}}, body};
  }

  // All that a walk from the root of the container "lake" reaches, as "a/ a/b c ".
  std::string tree() {
    std::string paths;
    auto looked = RunLoop::run(around.context.store.look([&](const store::View& view) {
      paths.clear();
      const auto all = heads(view);
      const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily,
                           "lake");
      const auto root = store::decode<blob::Container>((*view.get(key))->value)->space;
      add(all, root, "", paths);
      return store::Result<void>();
    }));
    EXPECT_TRUE(looked.ok());
    return paths;
  }
  // Heads that no walk from a root reaches, once what is dead was removed, and records of contents
  // that no head names.
  size_t out_of_reach() {
    const jobs::Job job = blob::clear_dead_trees_job();
    RunLoop::run(jobs::run_round(job, around.context.store, around.clock));
    size_t count = 0;
    auto looked = RunLoop::run(around.context.store.look([&](const store::View& view) {
      const auto all = heads(view);
      std::string paths;
      const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily,
                           "lake");
      const auto root = store::decode<blob::Container>((*view.get(key))->value)->space;
      const size_t reached = add(all, root, "", paths);
      count = 0;
      std::set<uint64_t> contents;
      for (const auto& [directory, children] : all) {
        count += children.size();
        for (const auto& [name, head] : children) contents.insert(head.content.id);
      }
      count -= reached;
      auto leaves =
          view.scan(store::Range::family(blob::lake_space("account"), content::kContentFamily));
      for (; leaves->valid(); leaves->next()) {
        const auto leaf = store::Key::from_bytes(std::string(leaves->key()));
        count += contents.count(read_be64(leaf.row().data())) == 0 ? 1 : 0;
      }
      return leaves->status();
    }));
    EXPECT_TRUE(looked.ok());
    return count;
  }

 private:
  using Heads = std::map<uint64_t, std::map<std::string, blob::Blob>>;

  void be_hierarchical() {
    service::AccountSettings settings;
    settings.hierarchical_namespace = true;
    around.context.settings = service::SettingsTable(settings);
    EXPECT_EQ(send({"PUT", "lake", "restype=container"}).outcome(), "201");
  }
  static Heads heads(const store::View& view) {
    Heads all;
    auto cursor = view.scan(store::Range::family(blob::lake_space("account"), blob::kHeads));
    for (; cursor->valid(); cursor->next()) {
      const auto key = store::Key::from_bytes(std::string(cursor->key()));
      const std::string partition = key.partition();
      if (!key.row().empty() || partition.size() == sizeof(uint64_t)) continue;
      all[read_be64(partition.data())][partition.substr(sizeof(uint64_t))] =
          store::decode<blob::Blob>((*cursor->record())->value).value();
    }
    return all;
  }
  static size_t add(const Heads& all, uint64_t directory, const std::string& path,
                    std::string& paths) {
    const auto found = all.find(directory);
    if (found == all.end()) return 0;
    size_t count = 0;
    for (const auto& [name, head] : found->second) {
      ++count;
      paths += path + name + (head.is_directory() ? "/ " : " ");
      if (head.is_directory()) count += add(all, head.node_id, path + name + "/", paths);
    }
    return count;
  }
};

}  // namespace kyanite::datalake
