// Another process for tests that kill one. It runs one test of this same program, which is disabled
// otherwise and written for that; forking alone would leave RocksDB without its threads.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "engine/test_location.h"

namespace kyanite::engine {

class TestProcess {
 public:
  // `test` is the disabled test's full name.
  TestProcess(const std::string& test, const TestLocation& location) {
    int channel[2];
    CHECK(pipe(channel) == 0);
    const std::string filter = "--gtest_filter=" + test;
    const std::string where = kLocation + ("=" + location.path());
    const std::string output = kChannel + ("=" + std::to_string(channel[1]));
    const char* arguments[] = {"test", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr};
    const char* environment[] = {where.c_str(), output.c_str(), nullptr};
    process_ = fork();
    CHECK(process_ >= 0);
    if (process_ == 0) {
      execve("/proc/self/exe", const_cast<char**>(arguments), const_cast<char**>(environment));
      _exit(127);
    }
    close(channel[1]);
    channel_ = channel[0];
  }
  TestProcess(const TestProcess&) = delete;
  TestProcess& operator=(const TestProcess&) = delete;
  ~TestProcess() { close(channel_); }

  // What the process said next; false when it has ended and said no more.
  bool hear(int& number) { return read(channel_, &number, sizeof number) == sizeof number; }
  void kill_it() { kill(process_, SIGKILL); }
  // Its wait status, once it has ended.
  int wait() {
    int status = 0;
    CHECK(waitpid(process_, &status, 0) == process_);
    return status;
  }

  // For the process itself: where it works, and how it tells the other side.
  static TestLocation location() { return TestLocation(std::string(std::getenv(kLocation))); }
  static bool say(int number) {
    return write(std::atoi(std::getenv(kChannel)), &number, sizeof number) == sizeof number;
  }

 private:
  static constexpr const char* kLocation = "KYANITE_TEST_LOCATION";
  static constexpr const char* kChannel = "KYANITE_TEST_CHANNEL";
  pid_t process_ = 0;
  int channel_ = -1;
};

}  // namespace kyanite::engine
