// What a run of the load generator asks for: one script a connection, which gives the requests one
// after the other. Requests are signed in advance where what they say does not depend on replies.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kyanite::load {

enum class Kind {
  kGet,
  kHead,
  kGetEach,
  kPut,
  kFiles,
  kUploads,
  kRange,
  kMessages,
  kConsume,
  kInsert,
  kUpsert,
  kCreate
};

struct Options {
  uint16_t port = 0;
  int connections = 1;
  double seconds = 1;
  uint64_t count = 0;   // Ends the run as well, unless 0.
  double rate = 0;      // Requests a second, due at fixed times; 0: as many as are answered.
  std::string account;  // Empty: requests are not signed.
  std::string key;      // Decoded.
  std::optional<Kind> kind;
  std::string path;            // of what the kind says; see load.cc
  bool table = false;          // Signed and asked as the Table service wants it.
  std::string name = "bench";  // of the table that kCreate makes
  size_t size = 0;             // of what is written
  uint64_t first_name = 0;     // Distinct names begin with this number.
  uint64_t among = 0;          // of how many things kGetEach asks for some
};
inline constexpr size_t kRangeFiles = 256;
inline constexpr size_t kRangeFileBytes = 16 * 1024 * 1024;
inline constexpr size_t kUpsertsPerTransaction = 100;

std::optional<Options> parse_options(const std::vector<std::string>& arguments);

// A head of its own, a body that many may share.
struct Request {
  std::string head;
  std::string_view body;

  size_t size() const { return head.size() + body.size(); }
  bool is_head() const { return head.starts_with("HEAD "); }  // The reply has no body.
  // What is left to send after the first `sent` bytes; returns how many of the parts are used.
  int rest(size_t sent, iovec (&parts)[2]) const;
};

class Script {
 public:
  virtual ~Script() = default;
  // `reply` is the body of the last reply, if wants_replies(). Null once there is nothing to ask;
  // else good until the next call.
  virtual const Request* next(std::string_view reply) = 0;
  virtual bool wants_replies() const { return false; }
  // Whether the request given last completes what is counted and timed as one.
  virtual bool completes() const { return true; }
};

// Makes the scripts of a run. Must outlive them.
class Scripts {
 public:
  explicit Scripts(const Options& options);
  ~Scripts();
  std::unique_ptr<Script> make();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// Of a reply's head; 0 when it has none.
size_t content_length(std::string_view head);
bool is_chunked(std::string_view head);

}  // namespace kyanite::load
