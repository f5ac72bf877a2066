// A Blob service over a store of the test's choice, with a clock moved by hand, called as the front
// calls it but for authentication.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "blob/records.h"
#include "blob/service.h"
#include "content/content.h"
#include "lifetime/directory.h"
#include "service/test_service.h"
#include "store/fields.h"

namespace kyanite::blob {

using Answer = service::TestAnswer;

class TestService : public service::TestHost<BlobService> {
 public:
  TestService() : TestHost(wire::Service::kBlob, "127.0.0.1:10000") {}
  explicit TestService(store::Store& store)
      : TestHost(wire::Service::kBlob, "127.0.0.1:10000", store) {}

  void set(const service::AccountSettings& settings) {
    around.context.settings = service::SettingsTable(settings);
  }
  // Soft delete for seven days.
  Answer keep_deleted() {
    return send({"PUT",
                 "",
                 "restype=service&comp=properties",
                 {},
                 "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                 "<Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>"});
  }

  // The requests most tests make.
  Answer make_container(const std::string& name) {
    return send({"PUT", name, "restype=container"});
  }
  static Request put(const std::string& path, const std::string& tags = {},
                     const std::string& body = "x") {
    Headers headers{{"x-ms-blob-type", "BlockBlob"}};
    if (!tags.empty()) headers.emplace_back("x-ms-tags", tags);
    return {"PUT", path, {}, headers, body};
  }
  static Request set_tags(const std::string& path, const std::string& tag,
                          const std::string& value) {
    return {"PUT",
            path,
            "comp=tags",
            {},
            "<Tags><TagSet><Tag><Key>" + tag + "</Key><Value>" + value +
                "</Value></Tag></TagSet></Tags>"};
  }
  // The names in all pages of what a where expression (percent-encoded) finds, each with a blank
  // behind it. `pages` counts them.
  std::string find(const std::string& where, int* pages = nullptr) {
    std::string names;
    std::string marker;
    do {
      const auto answer = send(
          {"GET", "", "comp=blobs&where=" + where + (marker.empty() ? "" : "&marker=" + marker)});
      EXPECT_EQ(answer.status, 200) << answer.code;
      for (size_t at = 0; (at = answer.body.find("<Name>", at)) != std::string::npos;) {
        at += 6;
        names += answer.body.substr(at, answer.body.find('<', at) - at) + " ";
      }
      const size_t next = answer.body.find("<NextMarker>");
      marker.clear();
      if (next != std::string::npos)
        marker = answer.body.substr(next + 12, answer.body.find('<', next + 12) - next - 12);
      if (pages != nullptr) ++*pages;
    } while (!marker.empty());
    return names;
  }

  // What is stored of the blobs of the container "box".
  struct Left {
    size_t heads = 0;
    std::string shown;   // The heads as "blob:3 -snapshot:1 ": lengths, and a dash where deleted.
    size_t unnamed = 0;  // Leaves and lists of blocks that no head names.
    std::string blocks;  // The rows of uncommitted blocks; that of their mark is empty.
  };
  Left left() {
    Left count;
    auto looked = RunLoop::run(around.context.store.look([&](const store::View& view) {
      count = {};
      const store::Key key(lifetime::directory_space("account"), lifetime::kContainersFamily,
                           "box");
      const auto space = store::decode<Container>((*view.get(key))->value)->space;
      std::set<uint64_t> named;
      auto heads = view.scan(store::Range::family(space, kHeads));
      for (; heads->valid(); heads->next(), ++count.heads) {
        const auto blob = store::decode<Blob>((*heads->record())->value).value();
        named.insert(blob.content.id);
        const auto instant = parse_row(store::Key::from_bytes(std::string(heads->key())).row());
        if (blob.deleted.set()) count.shown += '-';
        count.shown += instant.snapshot.set()  ? "snapshot"
                       : instant.version.set() ? "version"
                                               : "blob";
        count.shown += ':' + std::to_string(blob.content.length) + ' ';
      }
      for (const auto family : {content::kContentFamily, kBlockLists}) {
        auto rows = view.scan(store::Range::family(space, family));
        for (; rows->valid(); rows->next()) {
          const auto row = store::Key::from_bytes(std::string(rows->key()));
          count.unnamed += named.count(read_be64(row.row().data())) == 0 ? 1 : 0;
        }
      }
      auto blocks = view.scan(store::Range::family(space, kBlocks));
      for (; blocks->valid(); blocks->next())
        count.blocks.append(store::Key::from_bytes(std::string(blocks->key())).row()) += ' ';
      return blocks->status();
    }));
    EXPECT_TRUE(looked.ok());
    return count;
  }
};

}  // namespace kyanite::blob
