// Bodies much larger than what the process may use for them.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "net/test_peer.h"

namespace kyanite::net {
namespace {

constexpr uint64_t kBodyBytes = 1024 * 1024 * 1024;
constexpr size_t kMaxGrowthBytes = (kSanitized ? 512 : 32) * 1024 * 1024;

size_t resident_bytes() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * kPageBytes;
}

// Watches the process while a large body passes through it.
class MemoryWatch {
 public:
  void look() { most_ = std::max(most_, resident_bytes()); }
  size_t growth() const { return most_ - start_; }

 private:
  const size_t start_ = resident_bytes();
  size_t most_ = start_;
};

void download(TestPeer& peer, const std::string& path, uint64_t expected, MemoryWatch& memory) {
  ASSERT_TRUE(peer.send(get(path)));
  std::vector<char> block(1024 * 1024);
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    ASSERT_EQ(peer.receive(block.data(), 1), 1);
    head += block[0];
  }
  uint64_t offset = 0;
  while (offset < expected) {
    const ssize_t got =
        peer.receive(block.data(), std::min<uint64_t>(block.size(), expected - offset));
    ASSERT_GT(got, 0);
    ASSERT_TRUE(matches_pattern({block.data(), static_cast<size_t>(got)}, offset));
    offset += static_cast<uint64_t>(got);
    memory.look();
  }
}

void upload(TestPeer& peer, bool chunked, uint64_t total, MemoryWatch& memory) {
  const std::string framing =
      chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + std::to_string(total);
  ASSERT_TRUE(peer.send("PUT /count HTTP/1.1\r\nHost: h\r\n" + framing + "\r\n\r\n"));
  for (uint64_t sent = 0; sent < total; sent += pattern().size()) {
    ASSERT_TRUE(!chunked || peer.send("100000\r\n"));
    ASSERT_TRUE(peer.send(pattern()));
    ASSERT_TRUE(!chunked || peer.send("\r\n"));
    memory.look();
  }
  ASSERT_TRUE(!chunked || peer.send("0\r\n\r\n"));
  EXPECT_EQ(peer.answer().body, std::to_string(total) + " intact");
}

TEST(LargeBodies, PassThroughLittleMemory) {
  TestServer server;
  TestPeer peer(server.port);
  ASSERT_TRUE(matches_pattern(pattern(), 0));
  MemoryWatch memory;
  upload(peer, false, kBodyBytes, memory);
  upload(peer, true, kBodyBytes / 4, memory);
  download(peer, "/counted/" + std::to_string(kBodyBytes), kBodyBytes, memory);
  RecordProperty("memory_growth_bytes", static_cast<int>(memory.growth()));
  EXPECT_LT(memory.growth(), kMaxGrowthBytes);
}

// Nobody else waits while one connection moves as fast as it can.
TEST(LargeBodies, LeaveTurnsToOthers) {
  TestServer server;
  TestPeer large(server.port), small(server.port);
  std::atomic<bool> done{false};
  std::thread downloader([&] {
    MemoryWatch memory;
    download(large, "/counted/" + std::to_string(kBodyBytes / 4), kBodyBytes / 4, memory);
    done = true;
  });
  int answered = 0;
  while (!done) {
    ASSERT_TRUE(small.send(get("/x")));
    ASSERT_EQ(small.answer().body, "x");
    if (!done) ++answered;
  }
  downloader.join();
  EXPECT_GT(answered, 5);
}

}  // namespace
}  // namespace kyanite::net
