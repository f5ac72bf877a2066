// The requests of one run of the load generator, made and signed in advance.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::load {

struct Options {
  uint16_t port = 0;
  int connections = 1;
  double seconds = 1;
  std::string account;  // Empty: requests are not signed.
  std::string key;      // Decoded.
  std::string get;      // A path, or
  std::string put;      // a prefix of paths, or
  std::string range;    // the directory of kRangeFiles files.
  size_t size = 0;      // Of what is put.
};
inline constexpr size_t kRangeFiles = 256;
inline constexpr size_t kRangeFileBytes = 16 * 1024 * 1024;

std::optional<Options> parse_options(const std::vector<std::string>& arguments);

// A head of its own, a body that all share.
struct Request {
  std::string head;
  std::string_view body;

  size_t size() const { return head.size() + body.size(); }
  // What is left to send after the first `sent` bytes; returns how many of the parts are used.
  int rest(size_t sent, iovec (&parts)[2]) const;
};

class Requests {
 public:
  explicit Requests(const Options& options);

  // Null once the run is over. A run of distinct names is over early when it has used up its names.
  const Request* next();
  void stop() { stopped_ = true; }

 private:
  std::string body_;
  std::vector<Request> requests_;
  size_t next_ = 0;
  bool repeat_ = false;
  bool stopped_ = false;
};

// Of a reply's head; 0 when it has none.
size_t content_length(std::string_view head);

}  // namespace kyanite::load
