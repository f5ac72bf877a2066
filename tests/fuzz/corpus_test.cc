// Every fuzzer of src/ without its fuzzing engine: on the seeds in tests/corpus and on some
// thousand changes of them, the same in every run, so that what a fuzzer would find in its first
// minute fails the tests of every build. ./dev fuzz looks further.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "mutate.h"

#define FUZZER(name) extern "C" int name(const uint8_t* data, size_t size);
#include "fuzzers.inc"
#undef FUZZER

namespace kyanite::fuzz {
namespace {

using Fuzzer = int (*)(const uint8_t* data, size_t size);

struct Named {
  const char* name;
  Fuzzer run;

  friend void PrintTo(const Named& fuzzer, std::ostream* out) { *out << fuzzer.name; }
};
#define FUZZER(name) {#name, name},
constexpr Named kFuzzers[] = {
#include "fuzzers.inc"
};
#undef FUZZER

constexpr int kMutations = 100'000;
constexpr int kQuickMutations = 10'000;
constexpr unsigned kMostSeconds = 60;

// A whole story of requests takes as long as so many inputs of a parser.
constexpr int kStory = 100;

int mutations() { return std::getenv("KYANITE_QUICK") ? kQuickMutations : kMutations; }

// The input at hand, where it can be read after the process that ran it has died.
struct Shared {
  size_t size = 0;
  char bytes[kMostInputBytes] = {};
};

void run_one(Fuzzer fuzzer, const std::string& input, Shared& shared) {
  shared.size = std::min(input.size(), sizeof shared.bytes);
  std::memcpy(shared.bytes, input.data(), shared.size);
  alarm(kMostSeconds);  // Of this input: all of them take as long as the machine needs.
  // In memory of just its size, so that sanitizers notice who reads past it.
  const std::vector<uint8_t> exact(input.begin(), input.end());
  fuzzer(exact.data(), exact.size());
}

[[noreturn]] void run_all(Fuzzer fuzzer, const std::vector<std::string>& seeds, Shared& shared) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (const std::string& seed : seeds) run_one(fuzzer, seed, shared);
  std::mt19937_64 random(1);
  const int count = fuzzer == front_fuzz ? mutations() / kStory : mutations();
  for (int i = count; i > 0; --i) run_one(fuzzer, mutate(seeds, random), shared);
  _exit(EXIT_SUCCESS);
}

// Runs the fuzzer in a process of its own. The input that it crashed or hung on, if there is one.
std::optional<std::string> failing_input(Fuzzer fuzzer, const std::vector<std::string>& seeds) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* shared = new (memory) Shared;
  const pid_t child = fork();
  if (child == 0) run_all(fuzzer, seeds, *shared);
  int status = 0;
  if (waitpid(child, &status, 0) != child) std::abort();
  std::optional<std::string> failed;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
    failed.emplace(shared->bytes, shared->size);
  munmap(memory, sizeof(Shared));
  return failed;
}

std::vector<std::string> read_seeds(std::string_view fuzzer) {
  const auto folder = fuzzer.substr(0, fuzzer.rfind("_fuzz"));
  std::vector<std::filesystem::path> paths;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(KYANITE_CORPUS) / folder, none))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

class Corpus : public testing::TestWithParam<Named> {};

TEST_P(Corpus, HoldsAndSoDoItsChanges) {
  const auto seeds = read_seeds(GetParam().name);
  ASSERT_GE(seeds.size(), 3u) << "tests/corpus has too few seeds for " << GetParam().name;
  const auto failed = failing_input(GetParam().run, seeds);
  if (!failed) return;
  const std::string kept = testing::TempDir() + GetParam().name + "-failed";
  std::ofstream(kept, std::ios::binary) << *failed;
  FAIL() << "on an input of " << failed->size() << " bytes, kept as " << kept << ": "
         << testing::PrintToString(failed->substr(0, 200));
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(kFuzzers),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

// The same as a fuzzer that finds something: in a seed, and only in a change of one.
int fails_on_seed(const uint8_t*, size_t size) {
  if (size == 4) std::abort();
  return 0;
}
int fails_on_change(const uint8_t* data, size_t size) {
  if (size > 1 && data[0] == 'a' && data[1] == '\n') std::abort();
  return 0;
}
int never_fails(const uint8_t*, size_t) { return 0; }

TEST(CorpusRunner, SeesWhatFails) {
  EXPECT_EQ(failing_input(fails_on_seed, {"one", "four"}), "four");
  const auto changed = failing_input(fails_on_change, {"abc", "def"});
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->starts_with("a\n"));
  EXPECT_EQ(failing_input(never_fails, {"abc", "def"}), std::nullopt);
}

}  // namespace
}  // namespace kyanite::fuzz
