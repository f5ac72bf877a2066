// A File service over the in-memory store, with a clock moved by hand, called as the front calls it
// but for authentication.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file/service.h"
#include "service/test_service.h"

namespace kyanite::file {

using Answer = service::TestAnswer;

class TestService : public service::TestHost<FileService> {
 public:
  TestService() : TestHost(wire::Service::kFile, "127.0.0.1:10003") {}
  explicit TestService(store::Store& store)
      : TestHost(wire::Service::kFile, "127.0.0.1:10003", store) {}

  Answer send(std::string_view method, const std::string& path, const std::string& query = {},
              const Headers& headers = {}, std::string_view text = {}) {
    return RunLoop::run(
        serve(around.context, {std::string(method), path, query, headers, std::string(text)}));
  }

  Answer make_share(const std::string& name) { return send("PUT", name, "restype=share"); }
  Answer make_directory(const std::string& path) { return send("PUT", path, "restype=directory"); }
  Answer make_file(const std::string& path, const std::string& size = "0", Headers more = {}) {
    more.insert(more.end(), {{"x-ms-type", "file"}, {"x-ms-content-length", size}});
    return send("PUT", path, {}, more);
  }
  Answer write(const std::string& path, uint64_t offset, const std::string& bytes) {
    return send("PUT", path, "comp=range",
                {{"x-ms-write", "update"}, {"x-ms-range", range(offset, bytes.size())}}, bytes);
  }
  Answer clear(const std::string& path, uint64_t offset, uint64_t count) {
    return send("PUT", path, "comp=range",
                {{"x-ms-write", "clear"}, {"x-ms-range", range(offset, count)}});
  }
  // A range, so that the bytes come whole even if they are stored in pieces.
  Answer read(const std::string& path, uint64_t count, const std::string& query = {}) {
    return send("GET", path, query,
                {{"x-ms-range", range(0, count)}, {"x-ms-range-get-content-md5", "true"}});
  }
  Answer rename(const std::string& from, const std::string& to, bool directory, Headers more = {}) {
    more.emplace_back("x-ms-file-rename-source", "http://127.0.0.1:10003/account/" + from);
    return send("PUT", to, directory ? "restype=directory&comp=rename" : "comp=rename", more);
  }
  // Takes a snapshot; the text that names it.
  std::string snapshot(const std::string& share) {
    around.clock.advance_seconds(1);
    return send("PUT", share, "restype=share&comp=snapshot").header("x-ms-snapshot");
  }
  // The names in a directory, each with a blank behind it, directories with a slash.
  std::string names(const std::string& path, const std::string& query = {}) {
    const auto answer = send("GET", path, "restype=directory&comp=list" + query);
    EXPECT_EQ(answer.status, 200) << answer.code;
    std::string names;
    for (size_t at = 0; (at = answer.body.find("<Name>", at)) != std::string::npos;) {
      const bool directory = answer.body.compare(at - 11, 11, "<Directory>") == 0;
      at += 6;
      names += answer.body.substr(at, answer.body.find('<', at) - at) + (directory ? "/ " : " ");
    }
    return names;
  }

  static std::string range(uint64_t offset, uint64_t count) {
    return "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + count - 1);
  }
};

}  // namespace kyanite::file
