// Bytes -> up to three tokens of a logon, each with its length before it in two bytes. Nothing may
// crash, and nobody gets in: the fuzzer does not know the password.
#include "auth/spnego.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  using namespace kyanite::auth;
  const ManualClock clock(Time{639'079'632'000'000'000});
  static const std::vector<ntlm::Password> secret = {{"7Tq0cT1k0WwT6Jt4lq3o"}};
  const ntlm::Settings settings{{"KYANITE", "KYANITE", "kyanite", ""},
                                [](std::string_view) { return secret; },
                                [](size_t count) { return std::string(count, 'c'); },
                                &clock};
  LogonAcceptor acceptor(settings);
  bool refused = false;
  int steps = 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (rest.size() >= 2 && steps < 4) {
    const size_t length = static_cast<uint8_t>(rest[0]) | size_t{static_cast<uint8_t>(rest[1])}
                                                              << 8;
    rest.remove_prefix(2);
    const auto step = acceptor.step(rest.substr(0, length));
    rest.remove_prefix(std::min(length, rest.size()));
    CHECK(step.verdict != LogonStep::Verdict::kAccepted && !step.session);
    CHECK(!refused || step.verdict == LogonStep::Verdict::kRefused);
    refused = step.verdict == LogonStep::Verdict::kRefused;
    CHECK(refused || ++steps < 3);
    CHECK(step.token.size() < 1024);
  }
  return 0;
}
