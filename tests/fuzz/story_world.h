// A whole server for front_fuzz but for sockets and disks: the four services and websites behind
// their fronts, on the store in memory, with a clock and a randomness of its own. Nothing that
// happens in it depends on anything but the steps it is given.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "auth/mac.h"
#include "auth/sas_string.h"
#include "auth/shared_key.h"
#include "base/executor.h"
#include "blob/website.h"
#include "datalake/service.h"
#include "file/service.h"
#include "front/front.h"
#include "fuzz/story_reply.h"
#include "fuzz/story_script.h"
#include "http/fetch.h"
#include "http/parser.h"
#include "jobs/schedule.h"
#include "lifetime/directory.h"
#include "queue/service.h"
#include "service/gate.h"
#include "store/memory.h"
#include "table/service.h"
#include "wire/date.h"

namespace kyanite {
// Begins the sequence of random numbers anew. Defined in tests/fuzz/fixed_random.cc, which stands
// in for base/random.cc.
void restart_random();
}  // namespace kyanite

namespace kyanite::front {

inline constexpr std::string_view kFuzzVersion = "2026-04-06";
inline constexpr size_t kMostFilledIn = 64 * 1024;
inline constexpr size_t kMostBodyRead = 256 * 1024;

class ScriptBody final : public http::BodyReader {
 public:
  ScriptBody(std::string_view text, bool counted, bool breaks)
      : text_(text), counted_(counted), breaks_(breaks), length_(text.size() + (breaks ? 1 : 0)) {}

  Task<Result<Buffer, http::BodyError>> next() override {
    if (text_.empty() && breaks_) co_return http::BodyError::kDisconnected;
    co_return Buffer::copy_of(std::exchange(text_, {}));
  }
  std::optional<uint64_t> length() const override {
    return counted_ ? std::optional<uint64_t>(length_) : std::nullopt;
  }

 private:
  std::string_view text_;
  const bool counted_, breaks_;
  const uint64_t length_;
};

// Another server, which has something of that status under /200 and so on: the rest of the path.
// Copies that are made in the background never get anything, as nobody knows when they would.
class ScriptFetcher final : public http::Fetcher {
 public:
  Task<Result<std::unique_ptr<http::Fetched>, http::FetchError>> get(http::Url url, Lines, Lines,
                                                                     std::string) override {
    if (std::this_thread::get_id() != own_)
      co_return http::FetchError{http::FetchError::kBusy, "later"};
    std::string_view path = std::string_view(url.path).substr(1);
    const auto status = parse_uint(cut(path, "/"));
    if (!status || http::reason_phrase(static_cast<int>(*status)) == "Unknown")
      co_return http::FetchError{http::FetchError::kUnknownHost, "nobody there"};
    co_return std::make_unique<Page>(static_cast<int>(*status), std::string(path));
  }

 private:
  class Page final : public http::Fetched {
   public:
    Page(int status, std::string text) : status_(status), text_(std::move(text)) {
      headers_.add("ETag", "\"page\"");
      headers_.add("Content-Type", "text/plain");
      headers_.add("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT");
    }
    int status() const override { return status_; }
    const http::Headers& headers() const override { return headers_; }
    std::optional<uint64_t> length() const override { return text_.size(); }
    Task<Result<Buffer, http::FetchError>> next() override {
      co_return Buffer::copy_of(std::exchange(sent_, true) ? "" : text_);
    }

   private:
    const int status_;
    const std::string text_;
    http::Headers headers_;
    bool sent_ = false;
  };

  const std::thread::id own_ = std::this_thread::get_id();
};

// Every record of the store that a client can come to know of, cheap to keep and to compare:
// records are shared and never change. Left out is what may run ahead of the truth and is corrected
// when it is met: entries of the index of tags, notes of pending copies and cursors of jobs.
using Picture = std::vector<std::pair<std::string, store::RecordPtr>>;

inline bool same(const Picture& a, const Picture& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && (one.second == other.second || *one.second == *other.second);
  });
}

class World {
 public:
  World() {
    context_.fetcher = &fetcher_;
    service::AccountSettings keeps;
    keeps.blob_versioning = keeps.blob_immutability = true;
    keeps.container_retention_days = keeps.share_retention_days = 7;
    keeps.deletion_window_s = 30;
    context_.settings.set(std::string(kOther), keeps);
    for (auto& hosted : hosted_) {
      schedule_.add(hosted.service->make_jobs(context_));
      if (hosted.letter != 'w') context_.endpoints.add(*hosted.service, "127.0.0.1", hosted.port);
    }
  }

  // The server's answer; nothing to what is no HTTP request at all.
  std::optional<Answer> send(const Step& step);
  void wait(int64_t seconds);
  Picture picture();

 private:
  static constexpr std::string_view kAccount = "devstoreaccount1";
  static constexpr std::string_view kOther = "devstoreaccount2";  // Has all settings on.
  static constexpr int64_t kBegin = 1'700'000'000;
  static constexpr int64_t kTicksPerStep = kTicksPerSecond / 8;

  struct Hosted {
    Hosted(char which, uint16_t at, std::unique_ptr<service::Service> serves, World& world)
        : letter(which),
          port(at),
          service(std::move(serves)),
          metrics("fuzz", service->operations()),
          front(*service, world.context_, world.log_, metrics) {}
    const char letter;
    const uint16_t port;
    const std::unique_ptr<service::Service> service;
    Metrics metrics;
    Front front;
  };

  static const auth::Accounts& accounts() {
    static const auth::Accounts all = [] {
      const std::string key = *unbase64(
          "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"
          "K1SZFPTOtr/KBHBeksoGMGw==");
      return auth::Accounts(
          {{std::string(kAccount), {auth::Key(key)}}, {std::string(kOther), {auth::Key(key)}}});
    }();
    return all;
  }
  static Workers& workers() {
    static Workers one(1);
    return one;
  }

  Hosted* find(char letter) {
    const auto found = std::find_if(hosted_.begin(), hosted_.end(),
                                    [&](const Hosted& hosted) { return hosted.letter == letter; });
    return found == hosted_.end() ? nullptr : &*found;
  }
  static bool may_run_ahead(const store::Key& key);
  std::string fill_in(std::string_view text, bool in_target) const;
  std::string look_up(std::string_view name) const;
  std::string head_text(const Step& step, const Hosted& to, size_t content) const;
  std::string sas(std::string_view account) const;
  void sign(http::Request& request, const Hosted& to, std::string& text);
  Answer read(http::Reply reply, bool with_body) const;

  store::MemoryStore store_;
  store::KeyedLocks locks_;
  ManualClock clock_{Time::from_unix_seconds(kBegin)};
  ScriptFetcher fetcher_;
  service::Context context_{store_, locks_, workers(), clock_, accounts()};
  RequestLog log_{false};
  std::vector<Answer> answers_;
  std::array<Hosted, 5> hosted_{
      Hosted('b', 10000, std::make_unique<datalake::LakeService>(), *this),
      Hosted('q', 10001, std::make_unique<queue::QueueService>(), *this),
      Hosted('t', 10002, std::make_unique<table::TableService>(), *this),
      Hosted('f', 10004, std::make_unique<file::FileService>(), *this),
      Hosted('w', 10005, std::make_unique<blob::WebsiteService>(), *this)};
  jobs::Schedule schedule_{store_, clock_, {std::string(kAccount), std::string(kOther)}};
};

inline bool World::may_run_ahead(const store::Key& key) {
  if (key.space() == jobs::kCursorSpace) return true;
  for (const std::string_view account : {kAccount, kOther}) {
    if (key.space() == lifetime::directory_space("tags/" + std::string(account))) return true;
    if (key.space() == lifetime::directory_space(account) &&
        (key.family() == lifetime::kPendingCopiesFamily ||
         key.family() == lifetime::kPendingFileCopiesFamily))
      return true;
  }
  return false;
}

inline Picture World::picture() {
  Picture picture;
  for (const auto& [key, record] : store_.everything()) {
    if (!may_run_ahead(key)) picture.emplace_back(key.bytes(), record);
  }
  return picture;
}

inline void World::wait(int64_t seconds) {
  clock_.advance_seconds(seconds);
  RunLoop::run(schedule_.run_due());
}

// Of the latest answer that has it.
inline std::string World::look_up(std::string_view name) const {
  if (name == "sas") return sas(kAccount);
  if (name == "sas2") return sas(kOther);
  const std::string open = '<' + std::string(name) + '>';
  for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
    if (const auto header = answer->find(name)) return std::string(*header);
    const size_t at = answer->body.rfind(open);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(answer->body).substr(at + open.size());
    return std::string(cut(rest, "<"));
  }
  return {};
}

inline std::string World::fill_in(std::string_view text, bool in_target) const {
  std::string filled;
  while (filled.size() < kMostFilledIn) {
    const bool more = text.find('{') != std::string_view::npos;
    filled.append(cut(text, "{"));
    if (!more) break;
    const size_t end =
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    if (end == 0 || end == std::string_view::npos || text[end] != '}') {
      filled.push_back('{');
      continue;
    }
    const std::string_view name = text.substr(0, end);
    const std::string value = look_up(name);
    filled.append(in_target && !name.starts_with("sas") ? wire::percent_encode(value) : value);
    text.remove_prefix(end + 1);
  }
  return filled;
}

inline std::string World::sas(std::string_view account) const {
  const std::string token = "sv=2025-01-05&ss=bqtf&srt=sco&sp=rwdxylacuptfi&se=2040-01-01";
  const std::string text =
      auth::account_string_to_sign(*wire::Query::parse(token), account, wire::Version{20250105});
  const auto& key = accounts().find(account)->keys.front();
  return token + "&sig=" + wire::percent_encode(base64(auth::Mac::of(key, text).bytes()));
}

inline std::string World::head_text(const Step& step, const Hosted& to, size_t content) const {
  std::string text = step.method + " /" + std::string(step.has('2') ? kOther : kAccount);
  if (step.has('s')) text.append("-secondary");
  text.append(fill_in(step.target, true)).append(" HTTP/1.1\r\n");
  bool framed = false, dated = false, versioned = step.has('~');
  for (const auto& line : step.lines) {
    const std::string lower = ascii_lower(line);
    if (lower.starts_with("content-length:") || lower.starts_with("host:")) continue;
    framed |= lower.starts_with("transfer-encoding:");
    dated |= lower.starts_with("x-ms-date:");
    versioned |= lower.starts_with("x-ms-version:");
    text.append(fill_in(line, false)).append("\r\n");
  }
  if (!dated) text.append("x-ms-date: ").append(wire::http_date(clock_.now()).str()).append("\r\n");
  if (!versioned) text.append("x-ms-version: ").append(kFuzzVersion).append("\r\n");
  text.append("Host: 127.0.0.1:").append(std::to_string(to.port)).append("\r\n");
  const size_t length = content + (step.has('!') ? 1 : 0);
  const bool sends = length > 0 || step.method == "PUT" || step.method == "POST";
  if (sends && !framed)
    text.append("Content-Length: ").append(std::to_string(length)).append("\r\n");
  return text.append("\r\n");
}

// Adds the signature of the owner, or puts that of the token in the query where it has sig=?, for
// which `text` keeps the query.
inline void World::sign(http::Request& request, const Hosted& to, std::string& text) {
  service::Call call(request, context_);
  call.service = to.service.get();
  call.target.service = to.service->kind();
  if (!service::resolve(call)) return;
  const auto& query = call.query;
  const auth::Account& account = *accounts().find(call.target.account);
  std::string to_sign;
  if (!query.has("sig")) {
    auth::string_to_sign(request, query, call.target, false, {}, to_sign);
    text = "SharedKey " + account.name + ':' +
           base64(auth::Mac::of(account.keys.front(), to_sign).bytes());
    request.headers.add("Authorization", text);
    return;
  }
  const size_t at = request.query.find("sig=?");
  if (at == std::string_view::npos) return;
  const auto version = wire::Version::parse(query.get("sv")).value_or(wire::Version{});
  if (query.has("ss") || query.has("srt")) {
    to_sign = auth::account_string_to_sign(query, account.name, version);
  } else {
    const std::string_view kind = query.get("sr");
    const bool of_object = kind == "b" || kind == "f" || kind == "bs" || kind == "bv";
    const std::string container = call.target.service == wire::Service::kTable
                                      ? ascii_lower(query.get("tn"))
                                      : call.target.container;
    const std::string resource = auth::canonical_resource(
        call.target, container, of_object ? call.target.object : std::string(), true);
    to_sign = auth::service_string_to_sign(query, call.target.service, resource,
                                           kind == "bs"   ? call.target.snapshot
                                           : kind == "bv" ? call.target.version_id
                                                          : "",
                                           version);
  }
  text = request.query;
  text.replace(at + 4, 1,
               wire::percent_encode(base64(auth::Mac::of(account.keys.front(), to_sign).bytes())));
  request.query = text;
}

// As a connection would send it. Large bodies are not read to their end: a page blob may have
// terabytes of zeros.
inline Answer World::read(http::Reply reply, bool with_body) const {
  Answer answer;
  answer.status = reply.status;
  answer.error_code = reply.error_code;
  answer.head = std::move(reply.head);
  auto* stream = std::get_if<std::unique_ptr<http::BodyStream>>(&reply.body);
  answer.streamed = stream != nullptr;
  if (!with_body) return answer;
  if (stream == nullptr) {
    reply.head.clear();
    answer.body = http::body_in_memory(reply);
    return answer;
  }
  while (answer.body.size() < kMostBodyRead) {
    auto bytes = RunLoop::run((*stream)->next());
    CHECK(bytes);
    const Buffer& buffer = std::get<Buffer>(*bytes);
    if (buffer.empty()) {
      CHECK(!reply.stream_length || *reply.stream_length == answer.body.size());
      return answer;
    }
    answer.body.append(buffer.view());
  }
  CHECK(!reply.stream_length || *reply.stream_length >= answer.body.size());
  answer.whole = false;
  return answer;
}

inline std::optional<Answer> World::send(const Step& step) {
  Hosted* to = find(step.service);
  if (to == nullptr) return {};
  clock_.set({clock_.now().ticks + kTicksPerStep});
  const std::string content = fill_in(step.body, false);
  const std::string text = head_text(step, *to, content.size());
  http::HeadParser parser;
  if (parser.parse(text) != http::HeadParser::State::kDone) return {};
  if (parser.head().bytes != text.size()) return {};
  http::Request& request = parser.head().request;
  ScriptBody body(content, parser.head().framing != http::Framing::kChunked, step.has('!'));
  request.body = &body;
  request.peer = "127.0.0.1";
  std::string signature;
  if (!step.has('-') && step.service != 'w') sign(request, *to, signature);
  http::Reply reply = RunLoop::run(to->front.serve(request));
  answers_.push_back(read(std::move(reply), request.method != "HEAD"));
  answers_.back().sent = content;
  return answers_.back();
}

}  // namespace kyanite::front
