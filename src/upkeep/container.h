// A container of a server that speaks the Blob protocol, by a URL that has a SAS: Azure's, or
// another Kyanite. One request at a time, each tried again where that can help. Errors are clauses.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/url.h"
#include "net/client.h"

namespace kyanite::upkeep {

class Container {
 public:
  using Lines = http::Fetcher::Lines;
  struct Reply {
    int status = 0;
    std::string code;  // x-ms-error-code
    std::string etag;
    std::string lease;
    std::string body;
    bool ok() const { return status / 100 == 2; }
    // For people: why it was refused.
    std::string why() const;
  };

  static Result<std::unique_ptr<Container>, std::string> open(const std::string& url);

  // The URL without what lets somebody in.
  const std::string& name() const { return name_; }

  // Of a blob, or of the container where `blob` is empty. `query` goes before the SAS. Each try
  // needs that `may` still holds.
  using May = std::function<Result<void, std::string>()>;
  Result<Reply, std::string> ask(std::string_view method, const std::string& blob,
                                 const std::string& query, const Lines& headers,
                                 std::string_view body, const May& may = {});
  // All blobs whose names begin so, and how long they are.
  Result<std::map<std::string, uint64_t>, std::string> list(const std::string& prefix);

 private:
  Container(http::Url url, std::string name, std::unique_ptr<net::Client> client)
      : url_(std::move(url)), name_(std::move(name)), client_(std::move(client)) {}
  Result<Reply, std::string> try_once(std::string_view method, const http::Url& url,
                                      const Lines& headers, std::string_view body);

  const http::Url url_;
  const std::string name_;
  const std::unique_ptr<net::Client> client_;
};

}  // namespace kyanite::upkeep
