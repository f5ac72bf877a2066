#include "base/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace kyanite {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

std::string tell_gap(uint64_t count) { return "gap " + std::to_string(count) + "\n"; }

struct Pipe {
  Pipe() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() {
    close_reader();
    close(ends[1]);
  }
  void close_reader() {
    if (ends[0] >= 0) close(ends[0]);
    ends[0] = -1;
  }
  // Lines up to and including `last`.
  std::vector<std::string> read_to(const std::string& last) {
    std::vector<std::string> lines;
    while (lines.empty() || lines.back() != last) {
      size_t end;
      while ((end = unread.find('\n')) == std::string::npos) {
        char block[4096];
        const ssize_t got = read(ends[0], block, sizeof block);
        if (got <= 0) return lines;
        unread.append(block, static_cast<size_t>(got));
      }
      lines.push_back(unread.substr(0, end));
      unread.erase(0, end + 1);
    }
    return lines;
  }

  int ends[2];
  std::string unread;
};

std::string numbered(size_t number) {
  return std::to_string(number) + std::string(number % 200, 'x');
}

TEST(LineWriter, WritesLinesInOrder) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  std::vector<std::string> lines;
  for (size_t i = 0; i < 500; ++i) lines.push_back(numbered(i));
  std::thread reader([&] { EXPECT_EQ(pipe.read_to(numbered(499)), lines); });
  for (const std::string& line : lines) writer.write(line + "\n");
  EXPECT_TRUE(writer.flush(kLong));
  reader.join();
  EXPECT_EQ(writer.dropped(), 0u);
}

TEST(LineWriter, ALineLongerThanAPipeTakesAtOnceComesWhole) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  const std::string longest(300'000, 'y');
  writer.write("first\n");
  writer.write(longest + "\n");
  EXPECT_EQ(pipe.read_to(longest), (std::vector<std::string>{"first", longest}));
}

TEST(LineWriter, LinesOfSeveralThreadsDoNotMix) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  std::vector<std::thread> threads;
  for (const char each : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&writer, each] {
      for (size_t i = 1; i <= 200; ++i) writer.write(std::string(i, each) + "\n");
    });
  }
  std::thread closing([&] {
    for (auto& thread : threads) thread.join();
    writer.write("end\n");
  });
  const auto lines = pipe.read_to("end");
  closing.join();
  ASSERT_EQ(lines.size(), 801u);
  size_t lengths[4] = {};
  for (size_t i = 0; i < 800; ++i) {
    const char each = lines[i].at(0);
    EXPECT_EQ(lines[i], std::string(++lengths[each - 'a'], each));
  }
}

// Nobody reads: nobody waits, and what is missing is known afterwards.
TEST(LineWriter, LeavesOutWhatNobodyTakesAndTellsTheGap) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  size_t written = 0;
  while (writer.dropped() < 1000) writer.write(numbered(written++) + "\n");
  EXPECT_FALSE(writer.flush(milliseconds(1)));

  const std::string gap = "gap " + std::to_string(writer.dropped());
  const size_t kept = written - writer.dropped();
  const auto lines = pipe.read_to(gap);
  ASSERT_EQ(lines.size(), kept + 1);
  for (size_t i = 0; i < kept; ++i) ASSERT_EQ(lines[i], numbered(i));
  size_t bytes = 0;
  for (size_t i = 0; i < kept; ++i) bytes += lines[i].size() + 1;
  EXPECT_GT(bytes, LineWriter::kMaxQueuedBytes - 1000);
  EXPECT_LT(bytes, 3 * LineWriter::kMaxQueuedBytes);

  EXPECT_TRUE(writer.flush(kLong));
  writer.write("goes on\n");
  EXPECT_EQ(pipe.read_to("goes on"), std::vector<std::string>{"goes on"});
}

TEST(LineWriter, TakesJustSoMuch) {
  Pipe pipe;
  ASSERT_GT(fcntl(pipe.ends[1], F_SETPIPE_SZ, 4096), 0);
  const std::string filled(static_cast<size_t>(fcntl(pipe.ends[1], F_GETPIPE_SZ)), 'f');
  ASSERT_EQ(write(pipe.ends[1], filled.data(), filled.size()), static_cast<ssize_t>(filled.size()));
  LineWriter writer(pipe.ends[1], tell_gap);
  const std::string line = std::string(1023, 'z') + "\n";
  // What the thread has taken in hand does not count.
  writer.write("taken\n");
  while (writer.dropped() == 0) writer.write(line);
  EXPECT_EQ(writer.dropped(), 1u);
}

TEST(LineWriter, CountsWhatCannotBeWritten) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  pipe.close_reader();
  writer.write("one\n");
  writer.write("two\n");
  EXPECT_TRUE(writer.flush(kLong));
  EXPECT_EQ(writer.dropped(), 2u);
}

TEST(LineWriter, EndsAlthoughNobodyReads) {
  Pipe pipe;
  LineWriter writer(pipe.ends[1], tell_gap);
  while (writer.dropped() == 0) writer.write(std::string(1000, 'x') + "\n");
}

}  // namespace
}  // namespace kyanite
