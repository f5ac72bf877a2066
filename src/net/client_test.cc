#include "net/client.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/limits.h"
#include "net/listener.h"
#include "net/test_peer.h"

namespace kyanite::net {
namespace {

using http::FetchError;
using std::chrono::milliseconds;

// Accepts one connection after the other and says the same to each, whatever is asked.
class CannedServer {
 public:
  enum class Then { kClose, kHold };

  explicit CannedServer(std::string reply, Then then = Then::kClose)
      : reply_(std::move(reply)), then_(then) {
    Address address = resolve("127.0.0.1", 0)->front();
    auto sockets = listen_on(address, 1);
    port = address.port();
    listening_ = std::move(sockets->front());
    thread_ = std::thread([this] { serve(); });
  }
  ~CannedServer() {
    shutdown(listening_.number(), SHUT_RDWR);
    thread_.join();
  }

  uint16_t port = 0;
  std::string asked;  // By the last one; read it after the reply.

 private:
  void serve() {
    std::vector<Descriptor> held;
    while (true) {
      pollfd ready{listening_.number(), POLLIN, 0};
      poll(&ready, 1, -1);
      Descriptor peer(accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (peer.number() < 0) return;
      std::string request;
      char block[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = recv(peer.number(), block, sizeof block, 0);
        if (got <= 0) break;
        request.append(block, static_cast<size_t>(got));
      }
      asked = request;
      send(peer.number(), reply_.data(), reply_.size(), MSG_NOSIGNAL);
      if (then_ == Then::kHold) {
        held.push_back(std::move(peer));
      } else {
        shutdown(peer.number(), SHUT_WR);
      }
    }
  }

  const std::string reply_;
  const Then then_;
  Descriptor listening_;
  std::thread thread_;
};

class ClientTest : public ::testing::Test {
 protected:
  ClientOptions options_;
  std::unique_ptr<Client> client_;

  ClientTest() {
    options_.allow_private = true;
    create();
  }
  void create(Lookups::Resolve how = resolve) {
    client_.reset();
    auto created = Client::create(options_, std::move(how));
    ASSERT_TRUE(created.ok()) << created.error();
    client_ = std::move(*created);
  }

  // The status of the reply, 0 without.
  int send(std::string_view method, http::Url to, http::Fetcher::Lines headers,
           std::string_view body) {
    auto sent = RunLoop::run(client_->send(method, std::move(to), std::move(headers), body));
    return sent ? (*sent)->status() : 0;
  }

  static http::Url url(uint16_t port, std::string_view path) {
    return *http::parse_url("http://127.0.0.1:" + std::to_string(port) + std::string(path));
  }

  // Status and body, or "error kind".
  std::string fetch(http::Url from, http::Fetcher::Lines headers = {},
                    http::Fetcher::Lines credentials = {}) {
    return RunLoop::run(fetch_all(std::move(from), std::move(headers), std::move(credentials)));
  }

 private:
  Task<std::string> fetch_all(http::Url from, http::Fetcher::Lines headers,
                              http::Fetcher::Lines credentials) {
    auto fetched = co_await client_->get(from, headers, credentials, "account");
    if (!fetched) co_return "error " + std::to_string(fetched.error().kind);
    std::string out = std::to_string((*fetched)->status()) + " ";
    while (true) {
      auto chunk = co_await (*fetched)->next();
      if (!chunk) co_return out + "error " + std::to_string(chunk.error().kind);
      if (chunk->empty()) co_return out;
      out.append(chunk->view());
    }
  }
};

std::string error(FetchError::Kind kind) { return "error " + std::to_string(kind); }

TEST_F(ClientTest, ReceivesBodiesHoweverTheyEnd) {
  const struct {
    std::string_view reply;
    std::string_view expected;
  } cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 "},
      {"HTTP/1.0 200 OK\r\n\r\nuntil the end", "200 until the end"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
       "200 abcde"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 206 Part\r\nContent-Length: 1\r\n\r\nx", "206 x"},
      {"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "404 no"},
      {"HTTP/1.1 304 Not Modified\r\n\r\n", "304 "},
  };
  for (const auto& each : cases) {
    CannedServer server{std::string(each.reply)};
    EXPECT_EQ(fetch(url(server.port, "/")), each.expected) << each.reply;
  }
}

TEST_F(ClientTest, TellsWhatIsWrongWithReplies) {
  const struct {
    std::string reply;
    std::string expected;
  } cases[] = {
      {"", error(FetchError::kUnreachable)},
      {"HTTP/1.1 200", error(FetchError::kUnreachable)},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", error(FetchError::kBadReply)},
      {"HTTP/1.1 200 OK\r\nA: " + std::string(http::kMaxHeadBytes, 'x'),
       error(FetchError::kBadReply)},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "200 " + error(FetchError::kCutShort)},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
       "200 " + error(FetchError::kBadReply)},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
       "200 " + error(FetchError::kCutShort)},
      {"HTTP/1.1 302 Found\r\n\r\n", error(FetchError::kBadReply)},
      {"HTTP/1.1 302 Found\r\nLocation: ftp://h/\r\n\r\n", error(FetchError::kBadReply)},
      {"HTTP/1.1 302 Found\r\nLocation: /again\r\n\r\n", error(FetchError::kBadReply)},
  };
  for (const auto& each : cases) {
    CannedServer server(each.reply);
    EXPECT_EQ(fetch(url(server.port, "/")), each.expected) << each.reply.substr(0, 100);
  }
}

TEST_F(ClientTest, MovesLargeBodies) {
  TestServer server;
  for (const std::string_view path : {"/counted/20000000", "/stream/20000000", "/small/30000"}) {
    const std::string got = fetch(url(server.port, path));
    const size_t size = std::stoull(std::string(path.substr(path.rfind('/') + 1)));
    ASSERT_EQ(got.size(), size + 4) << path;
    EXPECT_TRUE(matches_pattern(std::string_view(got).substr(4), 0)) << path;
  }
  EXPECT_EQ(fetch(url(server.port, "/short/10")).substr(0, 4), "200 ");
  EXPECT_NE(fetch(url(server.port, "/short/10")).find(error(FetchError::kCutShort)),
            std::string::npos);
}

TEST_F(ClientTest, SendsWhatItWasGivenAndNoCredentialsOverPlainHttp) {
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  fetch(url(server.port, "/\xc3\xa4?a=b"), {{"Range", "bytes=0-1"}}, {{"Authorization", "secret"}});
  EXPECT_EQ(server.asked.substr(0, server.asked.find("\r\n")), "GET /%C3%A4?a=b HTTP/1.1");
  EXPECT_NE(server.asked.find("\r\nHost: 127.0.0.1:" + std::to_string(server.port) + "\r\n"),
            std::string::npos);
  EXPECT_NE(server.asked.find("\r\nRange: bytes=0-1\r\n"), std::string::npos);
  EXPECT_EQ(server.asked.find("secret"), std::string::npos);
}

TEST_F(ClientTest, FollowsRedirectsAFewTimes) {
  CannedServer end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
  const auto to = [](uint16_t port) {
    return "HTTP/1.1 307 Moved\r\nContent-Length: 0\r\nLocation: http://localhost:" +
           std::to_string(port) + "/\r\n\r\n";
  };
  CannedServer second(to(end.port));
  CannedServer first(to(second.port));
  EXPECT_EQ(fetch(url(first.port, "/")), "200 end");
  options_.max_redirects = 1;
  create();
  EXPECT_EQ(fetch(url(first.port, "/")), error(FetchError::kBadReply));
  EXPECT_EQ(fetch(url(second.port, "/")), "200 end");
}

TEST_F(ClientTest, KeepsToPublicAddressesUnlessTold) {
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  options_.allow_private = false;
  create();
  for (const std::string host :
       {"127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"}) {
    const auto where =
        http::parse_url("http://" + host + ":" + std::to_string(server.port) + "/").value();
    EXPECT_EQ(fetch(where), error(FetchError::kForbidden)) << host;
  }
  EXPECT_EQ(server.asked, "");
}

TEST_F(ClientTest, FindsNobody) {
  EXPECT_EQ(fetch(*http::parse_url("http://no-such-host.invalid/")),
            error(FetchError::kUnknownHost));
  const Descriptor closed(socket(AF_INET, SOCK_STREAM, 0));
  Address address = resolve("127.0.0.1", 0)->front();
  ASSERT_EQ(bind(closed.number(), address.raw(), address.length), 0);
  ASSERT_EQ(getsockname(closed.number(), address.raw(), &address.length), 0);
  EXPECT_EQ(fetch(url(address.port(), "/")), error(FetchError::kUnreachable));
}

TEST_F(ClientTest, WaitsOnlySoLong) {
  options_.head = milliseconds(50);
  create();
  CannedServer silent("", CannedServer::Then::kHold);
  EXPECT_EQ(fetch(url(silent.port, "/")), error(FetchError::kTimeout));

  options_.body = milliseconds(50);
  create();
  CannedServer halting("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                       CannedServer::Then::kHold);
  EXPECT_EQ(fetch(url(halting.port, "/")), "200 " + error(FetchError::kTimeout));

  options_ = {};
  options_.allow_private = true;
  options_.whole = milliseconds(150);
  create();
  EXPECT_EQ(fetch(url(halting.port, "/")), "200 " + error(FetchError::kTimeout));
}

TEST_F(ClientTest, FetchesOnlySoMuchAtOnce) {
  options_.max_at_once = 1;
  create();
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  auto one = RunLoop::run(client_->get(url(server.port, "/"), {}, {}, "account"));
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(fetch(url(server.port, "/")), error(FetchError::kBusy));
  one = FetchError{FetchError::kBusy, ""};  // Drops the reply.
  EXPECT_EQ(fetch(url(server.port, "/")), "200 ok");
}

// What name servers answer, and when, is up to the test.
struct Gate {
  void open() {
    std::lock_guard lock(mutex);
    is_open = true;
    changed.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex);
    ++arrived;
    changed.notify_all();
    changed.wait(lock, [this] { return is_open; });
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return arrived >= count; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  int arrived = 0;
};

TEST_F(ClientTest, NamesThatNobodyAnswersForHoldUpNobodyElse) {
  CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  const auto gate = std::make_shared<Gate>();
  options_.lookups = {.threads = 1, .waiting = 0, .longest = milliseconds(100)};
  create([gate](const std::string& host, uint16_t port) {
    if (host == "stuck") gate->pass();
    return resolve("127.0.0.1", port);
  });
  const auto named = [&](const std::string& host) {
    return *http::parse_url("http://" + host + ":" + std::to_string(server.port) + "/");
  };
  EXPECT_EQ(fetch(named("known")), "200 ok");
  std::thread stuck([&] {
    // The only thread may still be about to end the lookup before.
    std::string got;
    do {
      got = fetch(named("stuck"));
    } while (got == error(FetchError::kBusy));
    EXPECT_EQ(got, error(FetchError::kTimeout));
  });
  gate->wait_for(1);
  const uint64_t refused = client_->metrics().fetches_refused;
  EXPECT_EQ(fetch(url(server.port, "/")), "200 ok");  // Needs no lookup.
  EXPECT_EQ(fetch(named("other")), error(FetchError::kBusy));
  EXPECT_EQ(client_->metrics().fetches_refused, refused + 1);
  stuck.join();
  gate->open();
}

TEST_F(ClientTest, StopsWhileANameIsLookedUp) {
  const auto gate = std::make_shared<Gate>();
  create([gate](const std::string&, uint16_t port) {
    gate->pass();
    return resolve("127.0.0.1", port);
  });
  std::thread waiting(
      [&] { EXPECT_EQ(fetch(*http::parse_url("http://stuck/")), error(FetchError::kBusy)); });
  gate->wait_for(1);
  client_->stop();
  waiting.join();
  client_.reset();
  gate->open();
}

TEST_F(ClientTest, StopsWhatWaits) {
  CannedServer halting("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
                       CannedServer::Then::kHold);
  auto fetched = RunLoop::run(client_->get(url(halting.port, "/"), {}, {}, "account"));
  ASSERT_TRUE(fetched.ok());
  std::thread stopper([this] { client_->stop(); });
  auto chunk = RunLoop::run((*fetched)->next());
  stopper.join();
  ASSERT_FALSE(chunk.ok());
  EXPECT_EQ(chunk.error().kind, FetchError::kBusy);
  EXPECT_EQ(fetch(url(halting.port, "/")), error(FetchError::kBusy));
  fetched = FetchError{FetchError::kBusy, ""};
}

TEST_F(ClientTest, SendsABody) {
  CannedServer server("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(send("PUT", url(server.port, "/c/b?sig=x"), {{"x-ms-blob-type", "BlockBlob"}}, "hello"),
            201);
  EXPECT_TRUE(server.asked.starts_with("PUT /c/b?sig=x HTTP/1.1\r\n")) << server.asked;
  EXPECT_NE(server.asked.find("\r\nContent-Length: 5\r\n"), std::string::npos) << server.asked;
  EXPECT_NE(server.asked.find("\r\nx-ms-blob-type: BlockBlob\r\n"), std::string::npos);
  EXPECT_EQ(send("PUT", url(server.port, "/c/b"), {}, ""), 201);
  EXPECT_NE(server.asked.find("\r\nContent-Length: 0\r\n"), std::string::npos) << server.asked;
}

TEST_F(ClientTest, DoesNotFollowWithABody) {
  CannedServer server(
      "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(send("PUT", url(server.port, "/c/b"), {}, "hello"), 307);
}

}  // namespace
}  // namespace kyanite::net
