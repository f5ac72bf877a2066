#include "requests.h"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "signing.h"

namespace kyanite::load {

namespace {

// More than any server here writes in a second.
constexpr double kNamesPerSecond = 60'000;
constexpr std::string_view kJson = "application/json";

// A bijection that leaves no order in consecutive numbers (the finaliser of MurmurHash3).
uint64_t scatter(uint64_t number) {
  number ^= number >> 33;
  number *= 0xff51afd7ed558ccdULL;
  number ^= number >> 33;
  number *= 0xc4ceb9fe1a85ec53ULL;
  return number ^ (number >> 33);
}

std::string hex_name(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(scatter(number + 1)));
  return name;
}

// An entity of about `size` bytes as JSON.
std::string entity(std::string_view partition, std::string_view row, size_t size) {
  std::string json = "{\"PartitionKey\":\"";
  json.append(partition).append("\",\"RowKey\":\"").append(row);
  json.append("\",\"count\":7,\"price\":2.5,\"ready\":true,\"text\":\"");
  json.append(size, 'x').append("\"}");
  return json;
}

// A block blob of its own name.
Shape put_blob(const Options& options, uint64_t number) {
  return {"PUT",
          options.path + "/" + hex_name(number),
          "",
          {{"x-ms-blob-type", "BlockBlob"}},
          options.size};
}

Shape create_file(const Options& options, uint64_t number) {
  return {"PUT",
          options.path + "/" + hex_name(number),
          "",
          {{"x-ms-content-length", "0"}, {"x-ms-type", "file"}}};
}

// What makes a file of Data Lake: it is made, appended to and flushed.
constexpr size_t kUploadSteps = 3;
Shape upload_step(const Options& options, uint64_t number, size_t step) {
  const std::string path = options.path + "/" + hex_name(number);
  if (step == 0) return {"PUT", path, "resource=file"};
  if (step == 1) return {"PATCH", path, "action=append&position=0", {}, options.size};
  return {"PATCH", path, "action=flush&position=" + std::to_string(options.size)};
}

std::string row_key(uint64_t number) {
  char row[24];
  std::snprintf(row, sizeof row, "%04llu",
                static_cast<unsigned long long>(number % kUpsertsPerTransaction));
  return row;
}

// One of the things that were made under the names above, or one of the transactions' entities.
Shape get_one(const Options& options, uint64_t number) {
  const uint64_t chosen = scatter(number) % options.among;
  if (!options.table) return {"GET", options.path + "/" + hex_name(chosen), ""};
  return {"GET",
          options.path + "(PartitionKey='" + hex_name(chosen / kUpsertsPerTransaction) +
              "',RowKey='" + row_key(chosen) + "')",
          ""};
}

// A range of one of the files, at an offset that is a multiple of its size.
Shape put_range(const Options& options, uint64_t number) {
  const size_t offset = scatter(number) % (kRangeFileBytes / options.size) * options.size;
  return {"PUT",
          options.path + "/" + std::to_string(number % kRangeFiles),
          "comp=range",
          {{"x-ms-range",
            "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + options.size - 1)},
           {"x-ms-write", "update"}},
          options.size};
}

// One request again and again.
class Repeat final : public Script {
 public:
  explicit Repeat(const Request& request) : request_(request) {}
  const Request* next(std::string_view) override { return &request_; }

 private:
  const Request& request_;
};

// Each request once, whichever script comes first, or in turns without end.
struct Pool {
  std::vector<Request> requests;
  size_t next = 0;
  bool endless = false;
};
class Distinct final : public Script {
 public:
  explicit Distinct(Pool& pool) : pool_(pool) {}
  const Request* next(std::string_view) override {
    if (pool_.endless && pool_.next == pool_.requests.size()) pool_.next = 0;
    return pool_.next < pool_.requests.size() ? &pool_.requests[pool_.next++] : nullptr;
  }

 private:
  Pool& pool_;
};

// Likewise, so many that belong together.
class Steps final : public Script {
 public:
  Steps(Pool& pool, size_t count) : pool_(pool), count_(count) {}
  const Request* next(std::string_view) override {
    if (step_ == 0) {
      if (pool_.next >= pool_.requests.size()) return nullptr;
      first_ = pool_.next;
      pool_.next += count_;
    }
    const Request* request = &pool_.requests[first_ + step_];
    step_ = (step_ + 1) % count_;
    return request;
  }
  bool completes() const override { return step_ == 0; }

 private:
  Pool& pool_;
  const size_t count_;
  size_t first_ = 0;
  size_t step_ = 0;
};

// What follows `before` up to `after` in a document.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

// Takes a message and deletes it, which counts as one; ends when the queue is empty.
class Consume final : public Script {
 public:
  Consume(const Options& options, std::string date) : options_(options), date_(std::move(date)) {
    get_.head = make_head(options, {"GET", options.path, ""}, date_);
  }
  const Request* next(std::string_view reply) override {
    holding_ = !holding_;
    if (!holding_) return take(reply);
    return &get_;
  }
  bool wants_replies() const override { return true; }
  bool completes() const override { return !holding_; }

 private:
  const Request* take(std::string_view reply) {
    const auto id = between(reply, "<MessageId>", "<");
    const auto receipt = between(reply, "<PopReceipt>", "<");
    if (id.empty() || receipt.empty()) return nullptr;
    const Shape shape{"DELETE", options_.path + "/" + std::string(id),
                      "popreceipt=" + percent_encode(receipt)};
    delete_.head = make_head(options_, shape, date_);
    return &delete_;
  }

  const Options& options_;
  const std::string date_;
  bool holding_ = false;
  Request get_;
  Request delete_;
};

// An entity of its own keys, with its own body.
Request insert_entity(const Options& options, uint64_t number, const std::string& date) {
  const std::string name = hex_name(number);
  const std::string body = entity(std::string_view(name).substr(0, 2), name, options.size);
  const Shape shape{"POST", options.path, "", {}, body.size(), kJson};
  return {make_head(options, shape, date) + body, {}};
}

// A hundred entities a request, in a partition of their own. Made as they are sent, because they
// are large; what they cost the generator is a part of what is timed.
class Transactions final : public Script {
 public:
  Transactions(const Options& options, std::string date, uint64_t& next)
      : options_(options), date_(std::move(date)), next_(next) {}
  const Request* next(std::string_view) override {
    body_ = transaction();
    request_.body = body_;
    return &request_;
  }

 private:
  std::string transaction() {
    const uint64_t number = next_++;
    const std::string partition = hex_name(number);
    const std::string account = options_.path.substr(0, options_.path.rfind('/'));
    std::string body = "--batch_a\r\nContent-Type: multipart/mixed; boundary=changeset_b\r\n\r\n";
    for (size_t i = 0; i < kUpsertsPerTransaction; ++i) {
      const std::string row = row_key(i);
      const std::string json = entity(partition, row, options_.size);
      body.append("--changeset_b\r\nContent-Type: application/http\r\n");
      body.append("Content-Transfer-Encoding: binary\r\n\r\nPUT http://127.0.0.1:");
      body.append(std::to_string(options_.port)).append(options_.path);
      body.append("(PartitionKey='").append(partition).append("',RowKey='").append(row);
      body.append("') HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n");
      body.append("Content-Length: ").append(std::to_string(json.size())).append("\r\n\r\n");
      body.append(json).append("\r\n");
    }
    body.append("--changeset_b--\r\n--batch_a--\r\n");
    const Shape shape{"POST", account + "/$batch", "",
                      {},     body.size(),         "multipart/mixed; boundary=batch_a"};
    request_.head = make_head(options_, shape, date_);
    return body;
  }

  const Options& options_;
  const std::string date_;
  uint64_t& next_;
  std::string body_;
  Request request_;
};

std::optional<Kind> parse_kind(std::string_view name) {
  if (name == "--get") return Kind::kGet;
  if (name == "--head") return Kind::kHead;
  if (name == "--get-each") return Kind::kGetEach;
  if (name == "--put") return Kind::kPut;
  if (name == "--files") return Kind::kFiles;
  if (name == "--uploads") return Kind::kUploads;
  if (name == "--range") return Kind::kRange;
  if (name == "--messages") return Kind::kMessages;
  if (name == "--consume") return Kind::kConsume;
  if (name == "--insert") return Kind::kInsert;
  if (name == "--upsert") return Kind::kUpsert;
  if (name == "--create") return Kind::kCreate;
  return std::nullopt;
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    const std::string& value = arguments[i + 1];
    if (name == "--port") {
      options.port = static_cast<uint16_t>(std::atoi(value.c_str()));
    } else if (name == "--connections") {
      options.connections = std::atoi(value.c_str());
    } else if (name == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else if (name == "--count") {
      options.count = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--rate") {
      options.rate = std::atof(value.c_str());
    } else if (name == "--among") {
      options.among = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--account") {
      options.account = value;
    } else if (name == "--key") {
      options.key = unbase64(value);
    } else if (name == "--service") {
      options.table = value == "table";
    } else if (name == "--size") {
      options.size = std::strtoul(value.c_str(), nullptr, 10);
    } else if (name == "--name") {
      options.name = value;
    } else if (name == "--first") {
      options.first_name = std::strtoul(value.c_str(), nullptr, 10);
    } else if (const auto kind = parse_kind(name); kind && !options.kind) {
      options.kind = kind;
      options.path = value;
    } else {
      return std::nullopt;
    }
  }
  if (options.port == 0 || !options.kind) return std::nullopt;
  if (options.kind == Kind::kGetEach && options.among == 0) return std::nullopt;
  if (options.kind == Kind::kRange && (options.size == 0 || options.size > kRangeFileBytes))
    return std::nullopt;
  return options;
}

int Request::rest(size_t sent, iovec (&parts)[2]) const {
  int count = 0;
  if (sent < head.size()) {
    parts[count++] = {const_cast<char*>(head.data()) + sent, head.size() - sent};
    sent = head.size();
  }
  const std::string_view left = body.substr(sent - head.size());
  if (!left.empty()) parts[count++] = {const_cast<char*>(left.data()), left.size()};
  return count;
}

struct Scripts::Shared {
  Options options;
  std::string date = http_date();
  std::string body;  // of all requests
  Request repeated;
  Pool pool;
  uint64_t next_name = 0;

  // Fills the pool with requests made of the numbers from `first_name` on.
  template <class Make>
  void fill(uint64_t count, Make make) {
    pool.requests.reserve(count);
    for (uint64_t i = options.first_name; i < options.first_name + count; ++i)
      pool.requests.push_back(make(i));
  }
  void make_body() {
    body.resize(options.size);
    for (size_t i = 0; i < options.size; ++i) body[i] = static_cast<char>(scatter(i));
  }
  // As many as a run may need.
  uint64_t names() const {
    const auto most = static_cast<uint64_t>(options.seconds * kNamesPerSecond);
    return options.count > 0 ? std::min(options.count, most) : most;
  }
};

Scripts::Scripts(const Options& options) : shared_(std::make_unique<Shared>()) {
  auto& shared = *shared_;
  shared.options = options;
  shared.next_name = options.first_name;
  switch (*options.kind) {
    case Kind::kGet:
    case Kind::kHead: {
      const size_t mark = options.path.find('?');
      const auto query = mark == std::string::npos ? "" : options.path.substr(mark + 1);
      const std::string_view method = options.kind == Kind::kHead ? "HEAD" : "GET";
      shared.repeated.head =
          make_head(options, {method, options.path.substr(0, mark), query}, shared.date);
      break;
    }
    case Kind::kMessages: {
      shared.body = "<QueueMessage><MessageText>" + std::string(options.size, 'x') +
                    "</MessageText></QueueMessage>";
      const Shape shape{"POST", options.path, "", {}, shared.body.size(), "application/xml"};
      shared.repeated = {make_head(options, shape, shared.date), shared.body};
      break;
    }
    case Kind::kCreate: {
      shared.body = "{\"TableName\":\"" + options.name + "\"}";
      const Shape shape{"POST", options.path, "", {}, shared.body.size(), kJson};
      shared.repeated = {make_head(options, shape, shared.date), shared.body};
      break;
    }
    case Kind::kPut:
    case Kind::kRange: {
      shared.make_body();
      const auto shape = options.kind == Kind::kRange ? put_range : put_blob;
      shared.fill(shared.names(), [&](uint64_t i) {
        return Request{make_head(options, shape(options, i), shared.date), shared.body};
      });
      break;
    }
    case Kind::kFiles:
      shared.fill(shared.names(), [&](uint64_t i) {
        return Request{make_head(options, create_file(options, i), shared.date), {}};
      });
      break;
    case Kind::kUploads: {
      shared.make_body();
      auto& all = shared.pool.requests;
      const uint64_t most = options.count > 0 ? options.count : shared.names() / kUploadSteps;
      for (uint64_t i = 0; i < most; ++i) {
        for (size_t step = 0; step < kUploadSteps; ++step) {
          const Shape shape = upload_step(options, options.first_name + i, step);
          const std::string_view body = shape.length > 0 ? shared.body : std::string_view();
          all.push_back({make_head(options, shape, shared.date), body});
        }
      }
      break;
    }
    case Kind::kInsert:
      shared.fill(shared.names(),
                  [&](uint64_t i) { return insert_entity(options, i, shared.date); });
      break;
    case Kind::kGetEach:
      shared.pool.endless = true;
      shared.fill(std::min(options.among, shared.names()), [&](uint64_t i) {
        return Request{make_head(options, get_one(options, i), shared.date), {}};
      });
      break;
    case Kind::kConsume:
    case Kind::kUpsert:
      break;
  }
}

Scripts::~Scripts() = default;

std::unique_ptr<Script> Scripts::make() {
  auto& shared = *shared_;
  switch (*shared.options.kind) {
    case Kind::kGet:
    case Kind::kHead:
    case Kind::kMessages:
    case Kind::kCreate:
      return std::make_unique<Repeat>(shared.repeated);
    case Kind::kGetEach:
    case Kind::kPut:
    case Kind::kFiles:
    case Kind::kRange:
    case Kind::kInsert:
      return std::make_unique<Distinct>(shared.pool);
    case Kind::kUploads:
      return std::make_unique<Steps>(shared.pool, kUploadSteps);
    case Kind::kConsume:
      return std::make_unique<Consume>(shared.options, shared.date);
    case Kind::kUpsert:
      return std::make_unique<Transactions>(shared.options, shared.date, shared.next_name);
  }
  return nullptr;
}

namespace {
// What follows "name:" in a head; nothing when it has no such line.
std::optional<std::string_view> header(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        strncasecmp(line.data(), name.data(), name.size()) == 0) {
      return line.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}
}  // namespace

size_t content_length(std::string_view head) {
  const auto value = header(head, "content-length");
  return value ? std::strtoul(value->data(), nullptr, 10) : 0;
}

bool is_chunked(std::string_view head) {
  const auto value = header(head, "transfer-encoding");
  return value && value->starts_with(" chunked");
}

}  // namespace kyanite::load
