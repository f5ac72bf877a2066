#include "auth/spnego.h"

#include <gtest/gtest.h>

#include "auth/ntlm_test_client.h"

namespace kyanite::auth {
namespace {

using Verdict = LogonStep::Verdict;
const std::string kRejected = unhex("a1073005a0030a0102").value();

TEST(Der, ReadsWhatItWrites) {
  for (const size_t size : {0u, 1u, 0x7fu, 0x80u, 0xffu, 0x100u, 0xffffu}) {
    const std::string contents(size, 'x');
    const std::string written = der::value(der::kOctets, contents);
    der::Reader reader(written);
    EXPECT_FALSE(reader.take(der::kSequence));
    EXPECT_EQ(reader.take(der::kOctets), contents);
    EXPECT_TRUE(reader.done());
    for (size_t length = 0; length < written.size(); length += 1 + length / 16) {
      EXPECT_FALSE(der::Reader(std::string_view(written).substr(0, length)).take(der::kOctets));
    }
  }
}

TEST(Der, TakesOnlyTheShortestLengths) {
  // Of indefinite length, longer than need be, longer than is read here.
  for (const auto* text : {"04800000", "048100", "04817f", "0482007f", "048200ff", "0483000001",
                           "0484000000", "04ff"}) {
    const std::string bytes = unhex(text).value() + std::string(300, '\0');
    EXPECT_FALSE(der::Reader(bytes).take(der::kOctets)) << text;
  }
}

TEST(Der, ReadsNestedValuesThatHoldNothingElse) {
  EXPECT_EQ(der::Reader(unhex("a0030a0101").value()).take({der::part(0), der::kEnumerated}), "\1");
  EXPECT_FALSE(der::Reader(unhex("a0040a010100").value()).take({der::part(0), der::kEnumerated}));
  EXPECT_FALSE(der::Reader(unhex("a0030a0201").value()).take({der::part(0), der::kEnumerated}));
}

TEST(LogonHint, OffersNtlm) {
  EXPECT_EQ(hex(logon_hint()),
            "604806062b0601050502a03e303ca00e300c060a2b06010401823702020aa32a3028a0261b24" +
                hex("not_defined_in_RFC4178@please_ignore"));
}

class Spnego : public testing::Test {
 protected:
  LogonStep log_on() {
    LogonAcceptor acceptor(settings);
    const auto first = acceptor.step(client.initial_token(client.negotiate()));
    EXPECT_EQ(first.verdict, Verdict::kContinue);
    return acceptor.step(client.last_token(message_in(first.token)));
  }
  void expect_refused(const LogonStep& step, Refusal refusal) {
    EXPECT_EQ(step.verdict, Verdict::kRefused);
    EXPECT_EQ(describe(step.refusal), describe(refusal));
    EXPECT_FALSE(step.session);
  }

  ManualClock clock{Time{639'079'632'000'000'000}};
  ntlm::Settings settings{{"KYANITE", "KYANITE", "kyanite", ""},
                          [](std::string_view user) -> std::vector<ntlm::Password> {
                            if (user != "acct") return {};
                            return {{"Passw0rd!"}};
                          },
                          [](size_t count) { return std::string(count, '\x17'); },
                          &clock};
  NtlmTestClient client;
};

TEST_F(Spnego, TwoRoundsWithProtectedList) {
  LogonAcceptor acceptor(settings);
  const auto first = acceptor.step(client.initial_token(client.negotiate()));
  ASSERT_EQ(first.verdict, Verdict::kContinue);
  const std::string challenge = message_in(first.token);
  EXPECT_EQ(
      first.token,
      der::value(der::part(1),
                 der::value(der::kSequence,
                            unhex("a0030a0101a10c").value() + kNtlmMechanismDer +
                                der::value(der::part(2), der::value(der::kOctets, challenge)))));
  const auto second = acceptor.step(client.last_token(challenge));
  ASSERT_EQ(second.verdict, Verdict::kAccepted) << describe(second.refusal);
  EXPECT_EQ(hex(second.token),
            "a11b3019a0030a0100a3120410" + hex(client.code(ntlm::Side::kServer)));
  ASSERT_TRUE(second.session);
  EXPECT_EQ(second.session->user, "acct");
  EXPECT_EQ(second.session->key, client.session_key);

  expect_refused(acceptor.step(client.last_token(challenge)), Refusal::kOutOfOrder);
}

TEST_F(Spnego, ListMayGoWithoutCodeIfNtlmIsPreferred) {
  client.mechanism_list_code = false;
  client.mechanisms = {kNtlmMechanismDer, kKerberosMechanismDer};
  const auto step = log_on();
  ASSERT_EQ(step.verdict, Verdict::kAccepted) << describe(step.refusal);
  EXPECT_EQ(hex(step.token), "a1073005a0030a0100");
}

TEST_F(Spnego, CodesOfEveryStrengthAreChecked) {
  for (const uint32_t without : {0u, ntlm::k128, ntlm::k128 | ntlm::k56, ntlm::kKeyExchange}) {
    client = {};
    client.flags &= ~without;
    const auto step = log_on();
    ASSERT_EQ(step.verdict, Verdict::kAccepted) << without << describe(step.refusal);
    EXPECT_TRUE(step.token.ends_with(client.code(ntlm::Side::kServer)));
  }
}

TEST_F(Spnego, WrongCodesAreRefused) {
  for (size_t at = 0; at <= ntlm::kSignatureBytes; ++at) {
    client = {};
    LogonAcceptor acceptor(settings);
    const auto first = acceptor.step(client.initial_token(client.negotiate()));
    const std::string message = client.authenticate(message_in(first.token));
    std::string code = client.code(ntlm::Side::kClient);
    if (at < code.size()) {
      code[at] = static_cast<char>(code[at] ^ 1);
    } else {
      code.pop_back();
    }
    const auto step = acceptor.step(client.further_token(message, code));
    expect_refused(step, Refusal::kWrongMechanismListCode);
    EXPECT_EQ(step.token, kRejected);
  }
  // The server's own is not the client's.
  LogonAcceptor acceptor(settings);
  const auto first = acceptor.step(client.initial_token(client.negotiate()));
  const std::string message = client.authenticate(message_in(first.token));
  expect_refused(acceptor.step(client.further_token(message, client.code(ntlm::Side::kServer))),
                 Refusal::kWrongMechanismListCode);
}

TEST_F(Spnego, AnotherFirstChoiceTakesThreeRoundsAndACode) {
  for (const bool with_code : {true, false}) {
    client.mechanisms = {kKerberosMechanismDer, kNtlmMechanismDer};
    client.mechanism_list_code = with_code;
    LogonAcceptor acceptor(settings);
    const auto first = acceptor.step(client.initial_token(std::string(12'000, 'k')));
    ASSERT_EQ(first.verdict, Verdict::kContinue);
    EXPECT_EQ(hex(first.token), "a1153013a0030a0103a10c060a2b06010401823702020a");
    const auto second = acceptor.step(client.further_token(client.negotiate()));
    ASSERT_EQ(second.verdict, Verdict::kContinue);
    EXPECT_EQ(second.token.find(kNtlmMechanismDer), std::string::npos);
    const auto third = acceptor.step(client.last_token(message_in(second.token)));
    if (!with_code) {
      expect_refused(third, Refusal::kNoMechanismListCode);
      continue;
    }
    ASSERT_EQ(third.verdict, Verdict::kAccepted) << describe(third.refusal);
    EXPECT_TRUE(third.token.ends_with(client.code(ntlm::Side::kServer)));
    EXPECT_EQ(third.session->key, client.session_key);
  }
}

TEST_F(Spnego, FirstTokenMayBeWithoutMessage) {
  LogonAcceptor acceptor(settings);
  const auto first = acceptor.step(client.initial_token(""));
  ASSERT_EQ(first.verdict, Verdict::kContinue);
  EXPECT_EQ(hex(first.token), "a1153013a0030a0101a10c060a2b06010401823702020a");
  const auto second = acceptor.step(client.further_token(client.negotiate()));
  ASSERT_EQ(second.verdict, Verdict::kContinue);
  EXPECT_EQ(acceptor.step(client.last_token(message_in(second.token))).verdict, Verdict::kAccepted);
}

TEST_F(Spnego, NtlmMayComeAlone) {
  LogonAcceptor acceptor(settings);
  const auto first = acceptor.step(client.negotiate());
  ASSERT_EQ(first.verdict, Verdict::kContinue);
  EXPECT_TRUE(first.token.starts_with(ntlm::kMagic));
  const auto second = acceptor.step(client.authenticate(first.token));
  ASSERT_EQ(second.verdict, Verdict::kAccepted) << describe(second.refusal);
  EXPECT_EQ(second.token, "");
  EXPECT_EQ(second.session->key, client.session_key);

  client.password = "wrong";
  LogonAcceptor other(settings);
  const auto challenge = other.step(client.negotiate());
  const auto refused = other.step(client.authenticate(challenge.token));
  expect_refused(refused, Refusal::kWrongUserOrPassword);
  EXPECT_EQ(refused.token, "");
}

TEST_F(Spnego, WrongPasswordIsRejected) {
  client.password = "wrong";
  const auto step = log_on();
  expect_refused(step, Refusal::kWrongUserOrPassword);
  EXPECT_EQ(step.token, kRejected);
}

TEST_F(Spnego, OtherMechanismsAloneAreRefused) {
  client.mechanisms = {kKerberosMechanismDer};
  LogonAcceptor acceptor(settings);
  expect_refused(acceptor.step(client.initial_token("ticket")), Refusal::kNoCommonMechanism);
  client.mechanisms = {};
  LogonAcceptor other(settings);
  expect_refused(other.step(client.initial_token("ticket")), Refusal::kNoCommonMechanism);
}

TEST_F(Spnego, ClientMayBreakOff) {
  LogonAcceptor acceptor(settings);
  ASSERT_EQ(acceptor.step(client.initial_token(client.negotiate())).verdict, Verdict::kContinue);
  expect_refused(acceptor.step(kRejected), Refusal::kBrokenOff);
}

TEST_F(Spnego, TokensHaveLimits) {
  LogonAcceptor acceptor(settings);
  expect_refused(acceptor.step(std::string(kMaxLogonTokenBytes + 1, '\x60')), Refusal::kTooLong);
  client.mechanisms.assign(1 + kMaxMechanismListBytes / kNtlmMechanismDer.size(),
                           kNtlmMechanismDer);
  LogonAcceptor other(settings);
  expect_refused(other.step(client.initial_token(client.negotiate())), Refusal::kTooLong);
  LogonAcceptor empty(settings);
  expect_refused(empty.step(""), Refusal::kMalformed);
}

// Every step that was refused has ended the logon, so that what follows is refused as well.
TEST_F(Spnego, NoPrefixIsAccepted) {
  const std::string initial = client.initial_token(client.negotiate());
  for (size_t length = 0; length < initial.size(); ++length) {
    LogonAcceptor acceptor(settings);
    expect_refused(acceptor.step(initial.substr(0, length)), Refusal::kMalformed);
    expect_refused(acceptor.step(initial), Refusal::kOutOfOrder);
  }
  LogonAcceptor first(settings);
  const std::string last = client.last_token(message_in(first.step(initial).token));
  for (size_t length = 0; length < last.size(); ++length) {
    LogonAcceptor acceptor(settings);
    ASSERT_EQ(acceptor.step(initial).verdict, Verdict::kContinue);
    expect_refused(acceptor.step(last.substr(0, length)), Refusal::kMalformed);
    expect_refused(acceptor.step(last), Refusal::kOutOfOrder);
  }
}

// The client goes on as if nothing had happened. Whatever was changed, in either token, the logon
// fails; but for the state of the negotiation that the client tells, which nobody needs.
TEST_F(Spnego, NoChangedByteIsAccepted) {
  const std::string initial = client.initial_token(client.negotiate());
  LogonAcceptor honest(settings);
  const std::string last = client.last_token(message_in(honest.step(initial).token));
  const size_t state_at = last.find(unhex("a0030a0101").value()) + 4;
  for (const char change : {'\x01', '\x02', '\x20', '\x80', '\xff'}) {
    for (size_t at = 0; at < initial.size(); ++at) {
      std::string changed = initial;
      changed[at] = static_cast<char>(changed[at] ^ change);
      LogonAcceptor acceptor(settings);
      if (acceptor.step(changed).verdict == Verdict::kRefused) continue;
      EXPECT_EQ(acceptor.step(last).verdict, Verdict::kRefused) << at;
    }
    for (size_t at = 0; at < last.size(); ++at) {
      if (at == state_at) continue;
      std::string changed = last;
      changed[at] = static_cast<char>(changed[at] ^ change);
      LogonAcceptor acceptor(settings);
      ASSERT_EQ(acceptor.step(initial).verdict, Verdict::kContinue);
      EXPECT_EQ(acceptor.step(changed).verdict, Verdict::kRefused) << at;
    }
  }
}

}  // namespace
}  // namespace kyanite::auth
