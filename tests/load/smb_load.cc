// Loads an SMB server over connections of which each asks again as soon as it is answered.
//
//   smb_load --port N --user NAME --password TEXT --share NAME --mode MODE [OPTIONS]
//
//   read    reads FILE of 256 MiB, 1 MiB at a time, from its beginning to its end and again
//   write   writes files FILE.0, FILE.1, ... of 256 MiB, 1 MiB at a time, each flushed and closed,
//   and
//           deletes them when all is over, unless --keep 1 is given
//   open    opens, reads and closes the files of DIRECTORY, each in one frame
//   create  creates, writes and closes new files in DIRECTORY, each in one frame
//   list    lists DIRECTORY, 64 KiB at a time
//   idle    only logs on
//
//   --connections N (1)   --window N (1), frames in flight on a connection, of read, write and
//   create
//   --seconds S (1), or --count N, of all connections together
//   --file NAME   --directory NAME   --files N, that DIRECTORY has   --size N (4096), of small
//   files
//   --prefix TEXT, of the names that create makes
//
// Prints "ready" when everybody has logged on, begins when it is sent a line, prints the result,
// and ends its connections when its input ends: the server's processor time may be looked at in
// between.
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include "measure.h"
#include "smb/directory.h"
#include "smb_client.h"

namespace kyanite::load {
namespace {

constexpr uint64_t kLargeBytes = 256 << 20;
constexpr uint32_t kPieceBytes = 1 << 20;
constexpr uint16_t kPieceCredits = kPieceBytes / (64 << 10);
constexpr uint32_t kListBytes = 64 << 10;

struct Options {
  std::map<std::string, std::string, std::less<>> texts;

  std::string text(std::string_view name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  }
  double number(std::string_view name, double otherwise) const {
    const auto found = texts.find(name);
    return found == texts.end() ? otherwise : std::atof(found->second.c_str());
  }
  size_t count(std::string_view name, size_t otherwise) const {
    return static_cast<size_t>(number(name, static_cast<double>(otherwise)));
  }
};

// What all connections of a run have done.
struct Totals {
  Histogram latencies;
  uint64_t begun = 0;
  uint64_t most = UINT64_MAX;  // operations
  uint64_t errors = 0;
  std::string first_error;
  bool over = false;  // The time is.

  bool may_begin() const { return !over && errors == 0 && begun < most; }
  void fail(const SmbClient::Reply& reply) {
    if (errors++ == 0)
      first_error = smb::name(reply.header.command) + " " + smb::name(reply.header.status);
  }
};

std::string random_content(size_t bytes) {
  std::string content(bytes, '\0');
  std::mt19937_64 random(bytes);
  for (char& byte : content) byte = static_cast<char>(random());
  return content;
}

smb::CreateRequest opening(std::string name, smb::Disposition disposition, uint32_t access,
                           uint32_t options) {
  smb::CreateRequest request;
  request.impersonation = 2;
  request.desired_access = access;
  request.share_access =
      smb::share_access::kRead | smb::share_access::kWrite | smb::share_access::kDelete;
  request.disposition = disposition;
  request.options = options;
  request.name = std::move(name);
  return request;
}

void make_directory(SmbClient& client, const std::string& name) {
  client.close(client.open(opening(name, smb::Disposition::kOpenIf, smb::kGenericReadMeans,
                                   smb::create_option::kDirectoryFile)));
}

// What one connection does.
class Script {
 public:
  Script(SmbClient& asks, Totals& counts, size_t in_flight)
      : client(asks), totals(counts), window(in_flight) {}
  virtual ~Script() = default;

  // Sends all that can be sent now. When nothing is in flight afterwards the script is over.
  virtual void go_on() = 0;
  virtual void take(const SmbClient::Reply& reply) {
    if (reply.header.status != smb::Status::kSuccess) {
      totals.fail(reply);
    } else if (reply.ends_frame) {
      totals.latencies.add(nanoseconds_since(reply.began));
    }
  }
  virtual void clean_up() {}

 protected:
  bool has_room(uint16_t credits) const {
    return client.in_flight() < window && client.may_send(credits);
  }
  template <class Body>
  std::string large(smb::Command command, const Body& body) {
    client.charge = kPieceCredits;
    return client.message(command, body);
  }
  void send(std::string message) {
    std::vector<std::string> one;
    one.push_back(std::move(message));
    client.send(std::move(one));
    client.charge = 1;
  }

  SmbClient& client;
  Totals& totals;
  const size_t window;
};

class Read final : public Script {
 public:
  Read(SmbClient& asks, Totals& counts, const Options& options)
      : Script(asks, counts, options.count("window", 1)) {
    request_.file = client.open(
        opening(options.text("file"), smb::Disposition::kOpen, smb::kGenericReadMeans, 0));
    request_.length = kPieceBytes;
    client.charge = kPieceCredits;
    const auto answer = client.demand(smb::Command::kRead, request_);
    client.charge = 1;
    CHECK(answer.body<smb::ReadReply>().data == random_content(kPieceBytes));
  }
  void go_on() override {
    for (; totals.may_begin() && has_room(kPieceCredits); ++totals.begun) {
      send(large(smb::Command::kRead, request_));
      request_.offset = (request_.offset + kPieceBytes) % kLargeBytes;
    }
  }

 private:
  smb::ReadRequest request_;
};

// Goes on until the file at hand is closed, so that all that was written was also flushed.
class Write final : public Script {
 public:
  Write(SmbClient& asks, Totals& counts, const Options& options)
      : Script(asks, counts, options.count("window", 1)), name_(options.text("file")) {}

  void go_on() override {
    switch (stage_) {
      case Stage::kClosed:
        if (client.in_flight() > 0 || !totals.may_begin()) return;
        send(client.message(smb::Command::kCreate, created(smb::Disposition::kOverwriteIf, 0)));
        return;
      case Stage::kWriting:
        for (; request_.offset < kLargeBytes && has_room(kPieceCredits); ++totals.begun) {
          send(large(smb::Command::kWrite, request_));
          request_.offset += kPieceBytes;
        }
        if (client.in_flight() == 0) flush();
        return;
      case Stage::kFlushing:
        return;
    }
  }
  void take(const SmbClient::Reply& reply) override {
    if (reply.header.status != smb::Status::kSuccess) return totals.fail(reply);
    switch (reply.header.command) {
      case smb::Command::kCreate:
        request_.file = smb::decode<smb::CreateReply>(reply.bytes)->file;
        request_.offset = 0;
        request_.data = content_;
        stage_ = Stage::kWriting;
        return;
      case smb::Command::kWrite:
        totals.latencies.add(nanoseconds_since(reply.began));
        return;
      case smb::Command::kFlush: {
        smb::CloseRequest request;
        request.file = request_.file;
        send(client.message(smb::Command::kClose, request));
        return;
      }
      default:
        stage_ = Stage::kClosed;
        ++files_;
    }
  }
  void clean_up() override {
    for (; files_ > 0; --files_) {
      client.close(
          client.open(opening(name_ + "." + std::to_string(files_ - 1), smb::Disposition::kOpen,
                              smb::access::kDelete, smb::create_option::kDeleteOnClose)));
    }
  }

 private:
  enum class Stage { kClosed, kWriting, kFlushing };

  smb::CreateRequest created(smb::Disposition disposition, uint32_t options) const {
    return opening(name_ + "." + std::to_string(files_), disposition,
                   smb::kGenericReadMeans | smb::kGenericWriteMeans, options);
  }
  void flush() {
    stage_ = Stage::kFlushing;
    smb::FlushRequest request;
    request.file = request_.file;
    send(client.message(smb::Command::kFlush, request));
  }

  const std::string name_;
  const std::string content_ = random_content(kPieceBytes);
  Stage stage_ = Stage::kClosed;
  smb::WriteRequest request_;
  size_t files_ = 0;
};

// A CREATE, something with what it opened, and a CLOSE, in one frame.
class Chains : public Script {
 public:
  using Script::Script;
  void go_on() override {
    for (; totals.may_begin() && has_room(3); ++totals.begun) client.send(make_chain());
  }

 protected:
  virtual std::vector<std::string> make_chain() = 0;

  template <class Body>
  std::string related(smb::Command command, Body body) {
    body.file = smb::kPreviousFile;
    return client.message(command, body, smb::header_flag::kRelated);
  }
  void check_one() {
    const auto answers = client.converse(client.protect(make_chain()));
    CHECK(answers.size() == 3);
    for (const drive::Received& answer : answers) client.check(answer, smb::Status::kSuccess);
  }
};

class Open final : public Chains {
 public:
  Open(SmbClient& asks, Totals& counts, const Options& options)
      : Chains(asks, counts, 1),
        directory_(options.text("directory")),
        files_(options.count("files", 1)) {
    read_.length = static_cast<uint32_t>(options.count("size", 4096));
    check_one();
  }

 private:
  std::vector<std::string> make_chain() override {
    const std::string name = directory_ + "\\0_" + std::to_string(random_() % files_);
    std::vector<std::string> chain;
    chain.push_back(client.message(smb::Command::kCreate,
                                   opening(name, smb::Disposition::kOpen, smb::kGenericReadMeans,
                                           smb::create_option::kNonDirectoryFile)));
    chain.push_back(related(smb::Command::kRead, read_));
    chain.push_back(related(smb::Command::kClose, smb::CloseRequest()));
    return chain;
  }

  const std::string directory_;
  const size_t files_;
  smb::ReadRequest read_;
  std::mt19937 random_{1};
};

class Create final : public Chains {
 public:
  Create(SmbClient& asks, Totals& counts, const Options& options, size_t number)
      : Chains(asks, counts, options.count("window", 1)),
        prefix_(options.text("directory") + "\\" + options.text("prefix") + std::to_string(number) +
                "_"),
        content_(random_content(options.count("size", 4096))) {
    make_directory(client, options.text("directory"));
  }

 private:
  std::vector<std::string> make_chain() override {
    const std::string name = prefix_ + std::to_string(made_++);
    std::vector<std::string> chain;
    chain.push_back(client.message(
        smb::Command::kCreate,
        opening(name, smb::Disposition::kCreate, smb::kGenericReadMeans | smb::kGenericWriteMeans,
                smb::create_option::kNonDirectoryFile)));
    smb::WriteRequest write;
    write.data = content_;
    if (!content_.empty()) chain.push_back(related(smb::Command::kWrite, write));
    chain.push_back(related(smb::Command::kClose, smb::CloseRequest()));
    return chain;
  }

  const std::string prefix_;
  const std::string content_;
  size_t made_ = 0;
};

class List final : public Script {
 public:
  List(SmbClient& asks, Totals& counts, const Options& options) : Script(asks, counts, 1) {
    request_.file =
        client.open(opening(options.text("directory"), smb::Disposition::kOpen,
                            smb::kGenericReadMeans, smb::create_option::kDirectoryFile));
    request_.info_class = smb::FileClass::kIdBothDirectory;
    request_.output_length = kListBytes;
    request_.pattern = "*";
    constexpr size_t kDots = 2;
    CHECK(count_entries() == options.count("files", 0) + kDots);
    restart();
  }

  void go_on() override {
    if (!has_room(1)) return;
    if (request_.flags != 0) {
      if (!totals.may_begin()) return;
      ++totals.begun;
      began_ = Clock::now();
    }
    send(client.message(smb::Command::kQueryDirectory, request_));
    request_.flags = 0;
  }
  void take(const SmbClient::Reply& reply) override {
    if (reply.header.status == smb::Status::kNoMoreFiles) {
      totals.latencies.add(nanoseconds_since(began_));
      restart();
    } else if (reply.header.status != smb::Status::kSuccess) {
      totals.fail(reply);
    }
  }

 private:
  void restart() { request_.flags = smb::query_directory_flag::kRestart; }
  size_t count_entries() {
    size_t count = 0;
    while (true) {
      const auto answer = client.ask(smb::Command::kQueryDirectory, request_);
      CHECK(answer);
      if (answer->status() == smb::Status::kNoMoreFiles) return count;
      client.check(*answer, smb::Status::kSuccess);
      const auto entries =
          smb::read_directory(answer->body<smb::OutputReply>().output, request_.info_class);
      CHECK(entries);
      count += entries->size();
    }
  }

  smb::QueryDirectoryRequest request_;
  Clock::time_point began_;
};

class Idle final : public Script {
 public:
  Idle(SmbClient& asks, Totals& counts) : Script(asks, counts, 1) {}
  void go_on() override {}
};

std::unique_ptr<Script> make_script(SmbClient& client, Totals& totals, const Options& options,
                                    size_t number) {
  const std::string mode = options.text("mode");
  if (mode == "read") return std::make_unique<Read>(client, totals, options);
  if (mode == "write") return std::make_unique<Write>(client, totals, options);
  if (mode == "open") return std::make_unique<Open>(client, totals, options);
  if (mode == "create") return std::make_unique<Create>(client, totals, options, number);
  if (mode == "list") return std::make_unique<List>(client, totals, options);
  if (mode == "idle") return std::make_unique<Idle>(client, totals);
  return nullptr;
}

struct Talk {
  std::unique_ptr<SmbClient> client;
  std::unique_ptr<Script> script;

  // False when it is over.
  bool go_on() const {
    script->go_on();
    return client->flush() && client->in_flight() > 0;
  }
  bool take() const {
    return client->receive([this](const SmbClient::Reply& reply) { script->take(reply); });
  }
};

void run(std::vector<Talk>& talks, Totals& totals, double seconds) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  const auto began = Clock::now();
  size_t active = 0;
  for (Talk& talk : talks) {
    talk.client->begin();
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = &talk;
    epoll_ctl(epoll, EPOLL_CTL_ADD, talk.client->descriptor(), &event);
    active += talk.go_on() ? 1 : 0;
  }
  std::vector<epoll_event> events(talks.size());
  constexpr int kLookMs = 50;
  while (active > 0) {
    const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), kLookMs);
    totals.over |= static_cast<double>(nanoseconds_since(began)) >= seconds * 1e9;
    for (int i = 0; i < count; ++i) {
      const Talk& talk = *static_cast<Talk*>(events[static_cast<size_t>(i)].data.ptr);
      if (talk.client->in_flight() == 0) continue;
      if (!talk.take()) {
        std::fputs("the server is gone\n", stderr);
        std::exit(EXIT_FAILURE);
      }
      if (!talk.go_on()) --active;
    }
  }
  print_result(totals.latencies, static_cast<double>(nanoseconds_since(began)) / 1e9, totals.errors,
               totals.first_error);
  std::fflush(stdout);
  ::close(epoll);
}

// Whether somebody sent a line, and did not end.
bool told() {
  for (int read = std::getchar(); read != EOF; read = std::getchar()) {
    if (read == '\n') return true;
  }
  return false;
}

int main_with(const Options& options) {
  Totals totals;
  totals.most = static_cast<uint64_t>(options.number("count", 1e18));
  const SmbClient::Account account{options.text("user"), options.text("password"),
                                   options.text("share")};
  const auto port = static_cast<uint16_t>(options.count("port", 0));
  std::vector<Talk> talks(options.count("connections", 1));
  for (size_t i = 0; i < talks.size(); ++i) {
    talks[i].client = std::make_unique<SmbClient>(port, account);
    talks[i].script = make_script(*talks[i].client, totals, options, i);
    if (talks[i].script == nullptr) return EXIT_FAILURE;
  }
  std::puts("ready");
  std::fflush(stdout);
  if (!told()) return EXIT_SUCCESS;
  run(talks, totals, options.number("seconds", totals.most < UINT64_MAX / 2 ? 1e9 : 1));
  told();
  for (Talk& talk : talks) {
    talk.client->end();
    if (options.count("keep", 0) == 0) talk.script->clean_up();
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kyanite::load

int main(int argc, char** argv) {
  kyanite::load::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name.starts_with("--")) options.texts[std::string(name.substr(2))] = argv[i + 1];
  }
  std::signal(SIGPIPE, SIG_IGN);
  // A megabyte that is given back to the kernel has to be cleared by it every time.
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const int status = kyanite::load::main_with(options);
  if (status != EXIT_SUCCESS)
    std::fputs("smb_load: see the head of tests/load/smb_load.cc for how to call it\n", stderr);
  return status;
}
