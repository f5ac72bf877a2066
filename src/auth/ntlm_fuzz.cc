// Bytes -> both messages of a client. Nothing may crash, and nobody gets in: the fuzzer does not
// know the password.
#include "auth/ntlm.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kyanite;
  using namespace kyanite::auth;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const ManualClock clock(Time{639'079'632'000'000'000});
  static const std::vector<ntlm::Password> secret = {{"7Tq0cT1k0WwT6Jt4lq3o"}};
  const ntlm::Settings settings{{"KYANITE", "KYANITE", "kyanite", ""},
                                [](std::string_view) { return secret; },
                                [](size_t count) { return std::string(count, 'c'); },
                                &clock};
  ntlm::Acceptor acceptor(settings);
  const auto challenge = acceptor.challenge(message);
  CHECK(challenge.ok() == acceptor.challenged());
  const std::string own =
      ntlm::write_challenge(0xffffffff, settings.names, "12345678", clock.now());
  CHECK(!ntlm::verify(message, own, message, settings.passwords).ok());
  if (const auto read = ntlm::parse_authenticate(message)) {
    for (const auto part : {read->domain, read->user, read->workstation, read->proof, read->blob,
                            read->encrypted_key, read->integrity_code}) {
      CHECK(part.empty() || (part.data() >= message.data() + 64 &&
                             part.data() + part.size() <= message.data() + message.size()));
    }
    CHECK(ntlm::shown(read->workstation).size() <= ntlm::kMaxShown);
  }
  return 0;
}
