#include "auth/ntlm.h"

#include <gtest/gtest.h>
#include <openssl/sha.h>

#include "auth/md4.h"
#include "auth/ntlm_test_client.h"

namespace kyanite::auth::ntlm {
namespace {

std::string hex_of(const Key& key) { return hex(view(key)); }

TEST(Md4, HashesAsRfc1320Says) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"", "31d6cfe0d16ae931b73c59d7e0c089c0"},
      {"a", "bde52cb31de33e46245e05fbdbd6fb24"},
      {"abc", "a448017aaf21d8525fc10ae87aa6729d"},
      {"message digest", "d9130a8164549fe818874806e1c7014b"},
      {"abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
       "043f8582f241db351ce627e153e7f0e4"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
       "e33b4ddc9c38f2199c3e7b164fcc0536"},
  };
  for (const auto& [text, digest] : kCases) EXPECT_EQ(hex_of(md4(text)), digest) << text;
}

TEST(Rc4, EncryptsAsKnown) {
  EXPECT_EQ(hex(rc4("Key", "Plaintext")), "bbf316e8d940af0ad3");
  EXPECT_EQ(hex(rc4("Wiki", "pedia")), "1021bf0420");
  EXPECT_EQ(rc4("Secret", rc4("Secret", "Attack at dawn")), "Attack at dawn");
}

TEST(Md5, HashesAndAuthenticatesAsRfc2202Says) {
  EXPECT_EQ(hex_of(md5({"mess", "", "age digest"})), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex_of(hmac_md5("Jefe", {"what do ya want ", "for nothing?"})),
            "750c783e6ab0b503eaa86e310a5db738");
  EXPECT_EQ(hex_of(hmac_md5(std::string(16, '\x0b'), {"Hi There"})),
            "9294727a3638bb1c13f48ef8158bfc9d");
}

// One logon whose every number was computed by other programs.
struct Known {
  std::string negotiate = unhex(
                              "4e544c4d5353500001000000978208e2000000000000000000000000000000000a00"
                              "61580000000f")
                              .value();
  std::string challenge =
      unhex(
          "4e544c4d53535000020000000e000e0038000000158289e20123456789abcdef00000000000000004a004a00"
          "46000000060100000000000f4b00590041004e0049005400450002000e004b00590041004e00490054004500"
          "01000e004b00590041004e004900540045000400000003000e006b00790061006e0069007400650007000800"
          "0090d336b734c30100000000")
          .value();
  NtlmTestClient client;

  Known() { client.negotiate(); }
};

std::vector<Password> known_passwords(std::string_view user) {
  static const std::vector<Password> known = {{"another", 7}, {"Passw0rd!", 8}};
  if (user != "acct") return {};
  return known;
}

TEST(Ntlm, KnownNumbers) {
  Known known;
  EXPECT_EQ(known.client.sent_negotiate, known.negotiate);
  EXPECT_EQ(hex_of(md4(ascii_to_utf16("Passw0rd!"))), "fc525c9683e8fe067095ba2ddc971889");
  const Key user_key = response_key("Passw0rd!", ascii_to_utf16("acct"), ascii_to_utf16("AZURE"));
  EXPECT_EQ(hex_of(user_key), "214125e7ac145ca94de7f57d2840299f");
  const std::string blob = known.client.blob(known.challenge);
  EXPECT_EQ(blob.size(), 142u);
  const Key proof = proof_of(user_key, unhex("0123456789abcdef").value(), blob);
  EXPECT_EQ(hex_of(proof), "3d83341e1e13cef1330cc4e6d1055dac");
  const Key base = base_key(user_key, proof);
  EXPECT_EQ(hex_of(base), "db26da8a49bca9f0e7882c5f48f04b96");
  EXPECT_EQ(hex(rc4(view(base), std::string(16, '\x55'))), "c7c9a79f856760e3d7d7b42801d01f5f");
}

TEST(Ntlm, KnownLogonIsAccepted) {
  Known known;
  const std::string message = known.client.authenticate(known.challenge);
  ASSERT_EQ(message.size(), 308u);
  EXPECT_EQ(hex(message.substr(72, 16)), "7201c3601764317741b557eeb5ab0245");
  std::string without_code = message;
  without_code.replace(72, 16, 16, '\0');
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(without_code.data()), without_code.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  EXPECT_EQ(hex(digest), "85ba4ade7c12c235834965ad0dbda6f07b968bb0e6c473ff8b584d89cac296cc");

  const auto session = verify(known.negotiate, known.challenge, message, known_passwords);
  ASSERT_TRUE(session.ok()) << describe(session.error());
  EXPECT_EQ(session->user, "acct");
  EXPECT_EQ(session->domain, "AZURE");
  EXPECT_EQ(session->workstation, "WS");
  EXPECT_EQ(hex_of(session->key), std::string(32, '5'));
  const std::string mechanisms = unhex("300c060a2b06010401823702020a").value();
  EXPECT_EQ(hex(signature(Side::kClient, *session, mechanisms)),
            "0100000022a3984fefbb9c3200000000");
  EXPECT_EQ(hex(signature(Side::kServer, *session, mechanisms)),
            "010000007dd6da05648a73ae00000000");
}

TEST(Ntlm, NoPrefixAndNoChangedByteIsAccepted) {
  Known known;
  const std::string message = known.client.authenticate(known.challenge);
  for (size_t length = 0; length < message.size(); ++length) {
    // In memory of just its size, so that sanitizers notice who reads past it.
    const std::vector<char> exact(message.begin(), message.begin() + static_cast<long>(length));
    EXPECT_FALSE(verify(known.negotiate, known.challenge, {exact.data(), length}, known_passwords))
        << length;
  }
  for (size_t at = 0; at < message.size(); ++at) {
    for (const char change : {'\x01', '\x20', '\x80', '\xff'}) {
      std::string changed = message;
      changed[at] = static_cast<char>(changed[at] ^ change);
      EXPECT_FALSE(verify(known.negotiate, known.challenge, changed, known_passwords)) << at;
    }
  }
  for (const bool first : {true, false}) {
    const std::string& whole = first ? known.negotiate : known.challenge;
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 1);
      EXPECT_FALSE(verify(first ? changed : known.negotiate, first ? known.challenge : changed,
                          message, known_passwords))
          << at;
    }
  }
}

class Logon : public testing::Test {
 protected:
  Result<Session, Refusal> log_on(NtlmTestClient& who) {
    Acceptor acceptor(settings);
    const auto challenge = acceptor.challenge(who.negotiate());
    if (!challenge) return challenge.error();
    return acceptor.finish(who.authenticate(*challenge));
  }
  Refusal refusal(NtlmTestClient& who) {
    const auto session = log_on(who);
    EXPECT_FALSE(session.ok());
    return session ? Refusal::kBrokenOff : session.error();
  }

  ManualClock clock{Time{639'079'632'000'000'000}};
  Settings settings{
      {"KYANITE", "KYANITE", "kyanite", ""},
      known_passwords,
      [](size_t count) { return std::string("\x01\x23\x45\x67\x89\xab\xcd\xef", count); },
      &clock};
  NtlmTestClient client;
};

TEST_F(Logon, ChallengeIsAsKnownButForTheKindOfTarget) {
  // 2003-06-17, which the known challenge tells.
  clock.set({504'911'232'000'000'000 + 0x01c334b736d39000});
  Acceptor acceptor(settings);
  auto challenge = acceptor.challenge(client.negotiate());
  ASSERT_TRUE(challenge.ok());
  Known known;
  (*challenge)[22] = known.challenge[22];
  EXPECT_EQ(hex(*challenge), hex(known.challenge));
}

TEST_F(Logon, FlagsAreOfferedAsAskedFor) {
  const std::pair<uint32_t, uint32_t> kCases[] = {{0x62088215, 0x628a8215},
                                                  {0xa0880205, 0xa08a0205},
                                                  {0x00000001, 0x008a0205},
                                                  {0xffffffff, 0xe28a8235}};
  for (const auto& [asked, offered] : kCases) {
    const auto message = write_challenge(asked, settings.names, "12345678", clock.now());
    EXPECT_EQ(offered_flags(message), offered) << asked;
    EXPECT_EQ(server_challenge(message), "12345678");
  }
}

TEST_F(Logon, EveryShapeOfClientGetsIn) {
  for (const size_t negotiate_bytes : {16u, 32u, 40u}) {
    for (const size_t payload_at : {64u, 72u, 88u}) {
      for (const uint32_t flags : {0xe2088297u, 0xa0880205u, 0x40080205u}) {
        NtlmTestClient other;
        other.negotiate_bytes = negotiate_bytes;
        other.payload_at = payload_at;
        other.integrity_code = payload_at == 88;
        other.flags = flags;
        const auto session = log_on(other);
        ASSERT_TRUE(session.ok()) << payload_at << ' ' << flags << describe(session.error());
        EXPECT_EQ(session->key, other.session_key);
        EXPECT_EQ(session->flags, other.session_flags);
        // Without an exchange of keys the session has the key that follows from the password.
        EXPECT_EQ(view(session->key) == other.chosen_key, (flags & kKeyExchange) != 0);
      }
    }
  }
}

TEST_F(Logon, EitherPasswordAndAnyDomainDo) {
  for (const auto* password : {"another", "Passw0rd!"}) {
    for (const auto* domain : {"AZURE", "azure", "localhost", ""}) {
      for (const auto* user : {"acct", "ACCT", "AccT"}) {
        client.password = password;
        client.domain = domain;
        client.user = user;
        const auto session = log_on(client);
        ASSERT_TRUE(session.ok()) << password << domain << user;
        EXPECT_EQ(session->user, "acct");
        EXPECT_EQ(session->domain, domain);
        EXPECT_EQ(session->key_serial, password == std::string("another") ? 7u : 8u);
      }
    }
  }
}

TEST_F(Logon, AccountKeysAreTakenAsText) {
  const std::string key =
      "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
  Accounts accounts({{"acct", {auth::Key(unbase64(key).value()), auth::Key("other key")}},
                     {"single", {auth::Key("one")}}});
  settings.passwords = [&](std::string_view user) { return account_passwords(accounts, user); };
  for (const auto& [user, password] :
       {std::pair{"acct", key}, {"acct", "b3RoZXIga2V5"}, {"single", "b25l"}}) {
    client.user = user;
    client.password = password;
    EXPECT_TRUE(log_on(client).ok()) << user;
    client.password = password.substr(1);
    EXPECT_EQ(refusal(client), Refusal::kWrongUserOrPassword);
  }
  EXPECT_TRUE(settings.passwords("nobody").empty());
  accounts.replace({{"single", {auth::Key("two")}}});
  EXPECT_TRUE(settings.passwords("acct").empty());
  const auto single = settings.passwords("single");
  ASSERT_EQ(single.size(), 1u);
  EXPECT_EQ(single[0].text, "dHdv");
  EXPECT_TRUE(accounts.find("single")->has_key(single[0].key_serial));
}

TEST_F(Logon, WrongPasswordsAndUnknownUsersAreRefusedAlike) {
  client.password = "passw0rd!";
  EXPECT_EQ(refusal(client), Refusal::kWrongUserOrPassword);
  client.password = "Passw0rd!";
  for (const auto* user : {"acct2", "acc", "ac ct", "acct@azure", "AZURE\\acct"}) {
    client.user = user;
    EXPECT_EQ(refusal(client), Refusal::kWrongUserOrPassword) << user;
  }
}

// What stands in for a password that is not there is no password.
TEST_F(Logon, NobodyGetsInWithoutAPassword) {
  for (const auto& passwords : std::vector<std::vector<Password>>{{}, {{""}}, {{""}, {""}}}) {
    settings.passwords = [&](std::string_view) { return passwords; };
    for (const auto& password : {std::string(), std::string(88, '0')}) {
      client.password = password;
      EXPECT_EQ(refusal(client), Refusal::kWrongUserOrPassword);
    }
  }
}

TEST_F(Logon, NamesBeyondAsciiAreNobody) {
  std::string asked = "none";
  settings.passwords = [&](std::string_view user) {
    asked = user;
    return known_passwords("acct");
  };
  Acceptor acceptor(settings);
  const auto challenge = acceptor.challenge(client.negotiate());
  ASSERT_TRUE(challenge.ok());
  client.integrity_code = false;
  std::string message = client.authenticate(*challenge);
  // The 'a' of the user, right after the domain, becomes a letter with an accent.
  ASSERT_EQ(message.substr(98, 2), std::string("a\0", 2));
  message[98] = '\xe1';
  const auto session = acceptor.finish(message);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error(), Refusal::kWrongUserOrPassword);
  EXPECT_EQ(asked, "");
}

TEST_F(Logon, OlderResponsesAreRefused) {
  Acceptor acceptor(settings);
  const auto challenge = acceptor.challenge(client.negotiate());
  ASSERT_TRUE(challenge.ok());
  client.authenticate(*challenge);
  const std::pair<size_t, Refusal> kCases[] = {{0, Refusal::kAnonymous},
                                               {1, Refusal::kMalformed},
                                               {16, Refusal::kMalformed},
                                               {24, Refusal::kFirstVersion},
                                               {43, Refusal::kMalformed}};
  for (const auto& [size, expected] : kCases) {
    const auto message = client.write(*challenge, std::string(size, '\1'));
    const auto session = verify(client.sent_negotiate, *challenge, message, known_passwords);
    ASSERT_FALSE(session.ok());
    EXPECT_EQ(session.error(), expected) << size;
  }
}

TEST_F(Logon, NobodyComesInWithoutAName) {
  client.user = "";
  EXPECT_EQ(refusal(client), Refusal::kAnonymous);
}

TEST_F(Logon, OtherAlphabetsAreRefused) {
  client.flags &= ~kUnicode;
  EXPECT_EQ(refusal(client), Refusal::kNotUnicode);
}

TEST_F(Logon, PromisedCodeMustBeThere) {
  // A promise, but fields where the code belongs.
  for (const size_t payload_at : {64u, 72u, 87u}) {
    client.payload_at = payload_at;
    EXPECT_EQ(refusal(client), Refusal::kMalformed) << payload_at;
  }
  // Not even the response may lie there, which is what makes the promise.
  client.payload_at = 64;
  client.order = {1, 2, 3, 4, 0, 5};
  EXPECT_EQ(refusal(client), Refusal::kMalformed);
  client = {};
  Acceptor acceptor(settings);
  const auto challenge = acceptor.challenge(client.negotiate());
  std::string message = client.authenticate(*challenge);
  message.replace(72, 16, 16, '\0');
  const auto session = acceptor.finish(message);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error(), Refusal::kWrongIntegrityCode);
}

TEST_F(Logon, ExchangedKeyMustBeWhole) {
  client.chosen_key = std::string(15, '\x55');
  EXPECT_EQ(refusal(client), Refusal::kMalformed);
}

TEST_F(Logon, FlagsThatWereNotOfferedDoNotCount) {
  client.flags &= ~kKeyExchange;
  client.payload_at = 64;
  client.integrity_code = false;
  Acceptor acceptor(settings);
  const auto challenge = acceptor.challenge(client.negotiate());
  std::string message = client.authenticate(*challenge);
  message[63] = static_cast<char>(message[63] | 0x40);
  const auto session = acceptor.finish(message);
  ASSERT_TRUE(session.ok()) << describe(session.error());
  EXPECT_EQ(session->key, client.session_key);
  EXPECT_FALSE(session->flags & kKeyExchange);
}

TEST_F(Logon, MessagesHaveLimits) {
  Acceptor acceptor(settings);
  client.negotiate_bytes = kMaxNegotiateBytes + 1;
  const auto refused = acceptor.challenge(client.negotiate());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), Refusal::kTooLong);
  client.negotiate_bytes = kMaxNegotiateBytes;
  EXPECT_TRUE(log_on(client).ok());

  client.workstation = std::string(100, 'w');
  const auto session = log_on(client);
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->workstation, std::string(kMaxShown, 'w'));
  client.workstation = std::string(kMaxAuthenticateBytes / 2, 'w');
  EXPECT_EQ(refusal(client), Refusal::kTooLong);
}

TEST_F(Logon, MessagesHaveAnOrder) {
  Acceptor acceptor(settings);
  EXPECT_EQ(acceptor.finish("NTLMSSP").error(), Refusal::kOutOfOrder);
  const auto challenge = acceptor.challenge(client.negotiate());
  ASSERT_TRUE(challenge.ok());
  EXPECT_EQ(acceptor.challenge(client.negotiate()).error(), Refusal::kOutOfOrder);
  const std::string message = client.authenticate(*challenge);
  EXPECT_TRUE(acceptor.finish(message).ok());
  EXPECT_EQ(acceptor.finish(message).error(), Refusal::kOutOfOrder);
}

TEST_F(Logon, AnotherChallengeNeedsAnotherAnswer) {
  Acceptor first(settings);
  const auto challenge = first.challenge(client.negotiate());
  const std::string message = client.authenticate(*challenge);
  settings.random = [](size_t count) { return std::string(count, '\x42'); };
  Acceptor second(settings);
  ASSERT_TRUE(second.challenge(client.negotiate()).ok());
  EXPECT_EQ(second.finish(message).error(), Refusal::kWrongUserOrPassword);
}

TEST(Shown, IsPrintableAndShort) {
  EXPECT_EQ(shown(std::string("a\0\n\0\xe1\0z\0", 8)), "a??z");
  EXPECT_EQ(shown(std::string("a\0z", 3)), "a");
  EXPECT_EQ(shown(std::string(1000, 'x')).size(), kMaxShown);
}

}  // namespace
}  // namespace kyanite::auth::ntlm
