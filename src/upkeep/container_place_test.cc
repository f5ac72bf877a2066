// Lists of backups in containers that are longer than one reply may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/bytes.h"
#include "net/server.h"
#include "upkeep/backup_list.h"
#include "upkeep/backup_place.h"
#include "wire/query.h"

namespace kyanite::upkeep {
namespace {

// As much of a Blob service as the list of a backup needs. One loop serves it.
class TinyBlobs final : public http::Handler {
 public:
  Task<http::Reply> serve(http::Request& request) override {
    std::string body;
    while (true) {
      auto next = co_await request.body->next();
      if (!next) co_return http::Reply(400);
      if (next->empty()) break;
      body.append(next->view());
    }
    longest = std::max(longest, body.size());
    const auto query = wire::Query::parse(request.query);
    const auto comp = query->get("comp");
    if (comp == "lease") co_return http::Reply(201);
    if (comp == "block") {
      blocks_[std::string(query->get("blockid"))] = std::move(body);
      co_return http::Reply(201);
    }
    if (request.method == "GET") co_return get(request);
    if (comp == "blocklist") body = joined(body);
    co_return put(request, std::move(body));
  }

  size_t longest = 0;  // of the requests

 private:
  struct Blob {
    std::string bytes;
    std::string etag;
  };

  // What a list of blocks stands for.
  std::string joined(const std::string& list) {
    constexpr std::string_view kOpen = "<Latest>";
    std::string bytes;
    for (size_t at = 0; (at = list.find(kOpen, at)) != std::string::npos;) {
      at += kOpen.size();
      bytes += blocks_.at(list.substr(at, list.find('<', at) - at));
    }
    blocks_.clear();
    return bytes;
  }

  http::Reply put(const http::Request& request, std::string bytes) {
    Blob& blob = blobs_[std::string(request.path)];
    const auto match = request.headers.find("If-Match");
    if (match && *match != blob.etag) return http::Reply(412);
    if (request.headers.has("If-None-Match") && !blob.etag.empty()) return http::Reply(409);
    blob = {std::move(bytes), "\"" + std::to_string(++changes_) + "\""};
    return http::Reply(201);
  }

  http::Reply get(const http::Request& request) {
    const auto found = blobs_.find(std::string(request.path));
    if (found == blobs_.end() || found->second.etag.empty()) return http::Reply(404);
    const Blob& blob = found->second;
    const auto match = request.headers.find("If-Match");
    if (match && *match != blob.etag) return http::Reply(412);
    std::string_view bytes = blob.bytes;
    if (const auto range = request.headers.find("x-ms-range")) {
      const size_t dash = range->find('-');
      const uint64_t first = *parse_uint(range->substr(6, dash - 6));
      if (first >= bytes.size()) return http::Reply(416);
      bytes = bytes.substr(first, *parse_uint(range->substr(dash + 1)) - first + 1);
    }
    http::Reply reply(200);
    reply.header("ETag", blob.etag);
    reply.body = std::string(bytes);
    return reply;
  }

  std::map<std::string, Blob> blobs_;
  std::map<std::string, std::string, std::less<>> blocks_;
  int changes_ = 0;
};

class InAContainer : public testing::Test {
 protected:
  InAContainer() : server_(one_loop()) {
    auto endpoint = server_.listen("127.0.0.1", 0, blobs_);
    EXPECT_TRUE(endpoint.ok());
    url_ = "http://127.0.0.1:" + std::to_string(endpoint->port) + "/account/box?sig=x";
    server_.start();
  }
  static net::Options one_loop() {
    net::Options options;
    options.threads = 1;
    return options;
  }
  std::unique_ptr<BackupPlace> open() {
    auto place = container_place(url_);
    EXPECT_TRUE(place.ok());
    return std::move(*place);
  }
  static BackupList list_of(uint64_t files) {
    BackupList list{"aa", "bb", 7, {}};
    for (uint64_t i = 0; i < files; ++i)
      list.files["extents/" + std::to_string(i) + ".ext"] = {7, uint64_t{1} << 28, 0xffffffff,
                                                             true};
    return list;
  }

  TinyBlobs blobs_;
  net::Server server_;
  std::string url_;
};

TEST_F(InAContainer, ListsOfAnyLengthComeBack) {
  for (const uint64_t files : {3, 330'000, 0}) {
    SCOPED_TRACE(files);
    const std::string text = text_of(list_of(files));
    auto writer = open();
    ASSERT_TRUE(writer->lock().ok());
    ASSERT_TRUE(writer->read(std::string(kBackupName)).ok());
    const auto replaced = writer->replace_list(text);
    ASSERT_TRUE(replaced.ok()) << replaced.error();
    auto reader = open();
    const auto list = read_backup_list(*reader);
    ASSERT_TRUE(list.ok()) << list.error();
    ASSERT_TRUE(*list);
    EXPECT_EQ((*list)->files.size(), files);
    EXPECT_TRUE(text_of(**list) == text);
  }
  EXPECT_LE(blobs_.longest, size_t{4} << 20) << "each request is short enough to be in time";
}

TEST_F(InAContainer, ALongListIsNotReplacedByWhoHasNotSeenTheLast) {
  const std::string first = text_of(list_of(90'000));
  const std::string second = text_of(list_of(90'001));
  auto one = open();
  auto other = open();
  for (auto* each : {one.get(), other.get()}) {
    ASSERT_TRUE(each->lock().ok());
    EXPECT_FALSE(*each->read(std::string(kBackupName)));
  }
  ASSERT_TRUE(one->replace_list(first).ok());
  EXPECT_TRUE(other->replace_list(first).ok()) << "it may be an answer that was lost";
  const auto refused = open()->replace_list(second);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), "another backup to it was made meanwhile");
  EXPECT_TRUE(**open()->read(std::string(kBackupName)) == first);
}

}  // namespace
}  // namespace kyanite::upkeep
