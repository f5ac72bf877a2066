// Keys, signatures and encryption against vectors that were computed by other implementations.
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/bytes.h"
#include "smb/aead.h"
#include "smb/keys.h"
#include "smb/sealing.h"
#include "smb/signing.h"

namespace kyanite::smb {

class SealerForTest {
 public:
  static std::string seal(CipherId cipher, const SecretKey& key, uint64_t session,
                          const std::array<char, 16>& nonce, std::string_view plain) {
    Sealer sealer(cipher, key, session);
    std::string out(kTransformBytes + plain.size(), '\0');
    sealer.seal_with(nonce, plain.size(), one_by_one(std::array{plain}), out.data());
    return out;
  }
};

namespace {

constexpr uint64_t kSession = 0x1122334455667788;

// 00 01 02 ...
std::string counting(size_t size, char first = 0) {
  std::string bytes(size, '\0');
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

std::string echo(std::string_view flags) {
  return *unhex("fe534d4240000100000000000d000100" + std::string(flags) +
                "00000000"
                "0500000000000000"
                "0000000000000000"
                "8877665544332211" +
                std::string(32, '0') + "04000000");
}
std::string signed_echo() { return echo("08000000"); }

std::string signature_in(std::string_view message) {
  return hex(message.substr(kSignatureOffset, kSignatureBytes));
}

TEST(Keys, AreDerivedAsOthersDo) {
  const std::string key = counting(16);
  const SessionKeys v30 = derive_session_keys(Dialect::kSmb300, CipherId::kCcm128, key, {});
  EXPECT_EQ(hex(v30.signing.view()), "6234814cbb8ea9227440ebfeb5eacbe1");
  EXPECT_EQ(hex(v30.client_to_server.view()), "8e21f3cae16d07d84c03d74467f57878");
  EXPECT_EQ(hex(v30.server_to_client.view()), "95d8b55c852cd25349994b3842fa4105");
  const std::string context = counting(64);
  const auto v311 = [&](std::string_view label, size_t bytes) {
    return hex(derive_key(key, label, context, bytes).view());
  };
  EXPECT_EQ(v311({"SMBSigningKey", 14}, 16), "f7e5401ecc6e79ef9eab401b05004e4f");
  EXPECT_EQ(v311({"SMBC2SCipherKey", 16}, 16), "f1b6250ca4d9f8877e41071f59228ce4");
  EXPECT_EQ(v311({"SMBS2CCipherKey", 16}, 16), "99676aedfbfd18e61ca5bb60d502e8f2");
  EXPECT_EQ(v311({"SMBC2SCipherKey", 16}, 32),
            "d09c44a545f554240ddf8ac2777570de0f590e402196d1006261f7448076384d");
}

TEST(Keys, DependOnTheDialectAndTheHash) {
  const std::string key = counting(16);
  PreauthHash hash;
  hash.add("NEG_REQ");
  const auto derive = [&](Dialect dialect, CipherId cipher) {
    return derive_session_keys(dialect, cipher, key, hash);
  };
  EXPECT_EQ(derive(Dialect::kSmb210, CipherId::kNone).signing.view(), key);
  const SessionKeys v302 = derive(Dialect::kSmb302, CipherId::kCcm128);
  EXPECT_EQ(hex(v302.signing.view()), "6234814cbb8ea9227440ebfeb5eacbe1");
  const SessionKeys v311 = derive(Dialect::kSmb311, CipherId::kGcm256);
  EXPECT_EQ(v311.signing.view(), derive_key(key, {"SMBSigningKey", 14}, hash.view(), 16).view());
  EXPECT_EQ(v311.client_to_server.view(),
            derive_key(key, {"SMBC2SCipherKey", 16}, hash.view(), 32).view());
  EXPECT_EQ(v311.server_to_client.view(),
            derive_key(key, {"SMBS2CCipherKey", 16}, hash.view(), 32).view());
  EXPECT_EQ(derive(Dialect::kSmb311, CipherId::kGcm128).server_to_client.size(), 16u);
}

TEST(Keys, TakeSixteenBytesOfTheSessionKeyUnlessTheCipherTakesAll) {
  const std::string longer = counting(32);
  const auto derive = [](CipherId cipher, std::string_view key) {
    return derive_session_keys(Dialect::kSmb311, cipher, key, {});
  };
  EXPECT_EQ(derive(CipherId::kGcm128, longer).client_to_server.view(),
            derive(CipherId::kGcm128, counting(16)).client_to_server.view());
  EXPECT_NE(derive(CipherId::kGcm256, longer).client_to_server.view(),
            derive(CipherId::kGcm256, counting(16)).client_to_server.view());
  EXPECT_EQ(derive(CipherId::kGcm256, longer).signing.view(),
            derive(CipherId::kGcm256, counting(16)).signing.view());
  EXPECT_EQ(derive(CipherId::kGcm128, "ab").signing.view(),
            derive(CipherId::kGcm128, std::string("ab") + std::string(14, '\0')).signing.view());
}

TEST(Preauth, IsAChainOfHashes) {
  PreauthHash hash;
  hash.add("NEG_REQ");
  hash.add("NEG_RSP");
  const std::string value = hex(hash.view());
  EXPECT_EQ(value.substr(0, 32), "1438d2857d420296e038c2ec9be6b7f6");
  EXPECT_EQ(value.substr(value.size() - 16), "755c839c9fca3a35");
}

struct SigningCase {
  SigningId algorithm;
  std::string_view expected;
};

TEST(Signing, GivesTheSignaturesOfOthers) {
  for (const SigningCase& row : {
           SigningCase{SigningId::kHmacSha256, "9a562d20f9758b06a7afb77c998aab5b"},
           SigningCase{SigningId::kCmac, "61f1ee36abc2fc4525696e0d3865fc3b"},
           SigningCase{SigningId::kGmac, "345dcb03d227313defe2322c182f34ec"},
       }) {
    Signer signer(row.algorithm, SecretKey(counting(16)));
    for (int again = 0; again < 3; ++again) {
      std::string message = echo("00000000");  // Signing sets the flag.
      signer.sign(message);
      EXPECT_EQ(signature_in(message), row.expected);
      EXPECT_TRUE(signer.verify(message));
    }
  }
}

TEST(Signing, OfAServerByGmac) {
  Signer signer(SigningId::kGmac, SecretKey(counting(16)));
  std::string message = echo("09000000");
  signer.sign(message);
  EXPECT_EQ(signature_in(message), "0b917bf3f1a215ed8a137d3de8c4a6aa");
}

// GCM in one call of OpenSSL: what is encrypted, and behind it the tag.
std::string gcm_of_openssl(const std::string& key, const std::string& nonce,
                           std::string_view authenticated, std::string_view plain) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> gcm(EVP_CIPHER_CTX_new(),
                                                                            &EVP_CIPHER_CTX_free);
  std::string result(plain.size() + kSignatureBytes, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(result.data());
  int written = 0;
  EVP_EncryptInit_ex(gcm.get(), key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), nullptr,
                     bytes(key), bytes(nonce));
  EVP_EncryptUpdate(gcm.get(), nullptr, &written, bytes(authenticated),
                    static_cast<int>(authenticated.size()));
  EVP_EncryptUpdate(gcm.get(), to, &written, bytes(plain), static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(gcm.get(), to + plain.size(), &written);
  EVP_CIPHER_CTX_ctrl(gcm.get(), EVP_CTRL_AEAD_GET_TAG, kSignatureBytes, to + plain.size());
  return result;
}

TEST(Signing, OfCancelByGmacHasANonceOfItsOwn) {
  const std::string key = counting(16);
  Signer signer(SigningId::kGmac, SecretKey(key));
  Header header;
  header.command = Command::kCancel;
  header.flags = header_flag::kSigned;
  header.message_id = 5;
  std::string message = encode(header, EmptyBody());
  const std::string nonce = *unhex("050000000000000002000000");
  const std::string tag = gcm_of_openssl(key, nonce, message, "");
  signer.sign(message);
  EXPECT_EQ(signature_in(message), hex(tag));
}

class EverySigning : public testing::TestWithParam<SigningId> {};

TEST_P(EverySigning, CoversEveryByteInWhateverPieces) {
  Signer signer(GetParam(), SecretKey(counting(16, 7)));
  for (const size_t body : {0u, 1u, 15u, 16u, 17u, 31u, 32u, 100u, 5000u}) {
    const std::string message = signed_echo() + counting(body);
    std::string whole = message;
    signer.sign(whole);
    for (const size_t cut : {size_t{64}, size_t{65}, message.size() / 2 + 30, message.size()}) {
      if (cut < 64 || cut > message.size()) continue;
      std::string first = message.substr(0, cut);
      const std::string_view rest = std::string_view(message).substr(cut);
      const std::array pieces{rest.substr(0, rest.size() / 3), std::string_view(),
                              rest.substr(rest.size() / 3)};
      signer.sign(first, one_by_one(pieces));
      EXPECT_EQ(signature_in(first), signature_in(whole)) << body << " cut at " << cut;
    }
    for (size_t i = 0; i < whole.size(); i += i < 80 ? 1 : 97) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0x40);
      EXPECT_FALSE(signer.verify(changed)) << "byte " << i;
    }
  }
}

TEST_P(EverySigning, RefusesWhatIsNotMarkedAsSignedOrNotAMessage) {
  Signer signer(GetParam(), SecretKey(counting(16)));
  std::string message = signed_echo();
  signer.sign(message);
  ASSERT_TRUE(signer.verify(message));
  for (size_t size = 0; size < message.size(); ++size)
    EXPECT_FALSE(signer.verify(std::string_view(message).substr(0, size)));
  std::string unmarked = message;
  unmarked[16] = 0;
  EXPECT_FALSE(signer.verify(unmarked));
  Signer other(GetParam(), SecretKey(counting(16, 1)));
  EXPECT_FALSE(other.verify(message));
}

INSTANTIATE_TEST_SUITE_P(All, EverySigning,
                         testing::Values(SigningId::kHmacSha256, SigningId::kCmac,
                                         SigningId::kGmac));

TEST(Signing, ByCmacIsThatOfOpenSslForEveryLength) {
  const std::string key = *unhex("2b7e151628aed2a6abf7158809cf4f3c");
  Signer signer(SigningId::kCmac, SecretKey(key));
  for (size_t body = 0; body <= 5000; body += body < 100 ? 1 : 491) {
    std::string message = signed_echo() + counting(body);
    unsigned char expected[16];
    size_t size = 0;
    ASSERT_NE(EVP_Q_mac(nullptr, "CMAC", nullptr, "AES-128-CBC", nullptr, key.data(), key.size(),
                        reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                        expected, sizeof expected, &size),
              nullptr);
    signer.sign(message);
    EXPECT_EQ(signature_in(message), hex({reinterpret_cast<const char*>(expected), size})) << body;
  }
}

struct GcmCase {
  CipherId cipher;
  Aead::Instructions by;
};

// The same bytes by whatever instructions.
class EveryGcm : public testing::TestWithParam<GcmCase> {
 protected:
  void SetUp() override {
    if (!Aead::has(GetParam().by)) GTEST_SKIP() << "this processor has no such instructions";
  }
  static std::string key() { return hashed(GetParam().cipher == CipherId::kGcm128 ? 16 : 32, 77); }
  // Bytes that follow no pattern, others for each seed.
  static std::string hashed(size_t size, uint64_t seed) {
    std::string bytes;
    while (bytes.size() < size) {
      seed = (seed + 1) * 0x9e3779b97f4a7c15;
      bytes += static_cast<char>(seed >> 56);
    }
    return bytes;
  }
  static Aead make(Aead::Direction direction) {
    return Aead(GetParam().cipher, SecretKey(key()), direction, GetParam().by);
  }
  // In pieces whose sizes repeat.
  static std::string encrypt(Aead& aead, const std::string& nonce, std::string_view authenticated,
                             std::string_view plain, std::span<const size_t> pieces) {
    std::string result(plain.size(), '\0');
    aead.begin(nonce.data(), plain.size());
    size_t turn = 0;
    while (!authenticated.empty()) {
      const size_t count = std::min(authenticated.size(), pieces[turn++ % pieces.size()]);
      aead.authenticate(authenticated.substr(0, count));
      authenticated.remove_prefix(count);
    }
    for (size_t at = 0; at < plain.size();) {
      const size_t count = std::min(plain.size() - at, pieces[turn++ % pieces.size()]);
      aead.encrypt(plain.data() + at, result.data() + at, count);
      at += count;
    }
    const Aead::Tag tag = aead.tag();
    return result.append(tag.begin(), tag.end());
  }
};

// Around every number of blocks that is treated at once: one, two, four, 16, 32.
constexpr size_t kManySizes = 2 * 512 + 80;

TEST_P(EveryGcm, EncryptsEveryLengthAsOpenSslDoes) {
  Aead aead = make(Aead::Direction::kEncrypts);
  constexpr size_t kWhole[] = {1 << 20};
  for (size_t size = 0; size <= kManySizes; ++size) {
    const std::string plain = hashed(size, size);
    const std::string nonce = hashed(12, size + 1);
    const std::string authenticated = hashed(size % 67, size + 2);
    EXPECT_EQ(hex(encrypt(aead, nonce, authenticated, plain, kWhole)),
              hex(gcm_of_openssl(key(), nonce, authenticated, plain)))
        << size;
  }
}

TEST_P(EveryGcm, SignsEveryLengthAsOpenSslDoes) {
  Aead aead = make(Aead::Direction::kEncrypts);
  constexpr size_t kWhole[] = {1 << 20};
  for (size_t size = 0; size <= kManySizes; ++size) {
    const std::string message = hashed(size, size);
    const std::string nonce = hashed(12, size + 1);
    EXPECT_EQ(hex(encrypt(aead, nonce, message, "", kWhole)),
              hex(gcm_of_openssl(key(), nonce, message, "")))
        << size;
  }
}

TEST_P(EveryGcm, EncryptsInWhateverPieces) {
  Aead aead = make(Aead::Direction::kEncrypts);
  const std::vector<std::vector<size_t>> splits = {
      {1}, {15}, {16}, {17}, {3, 16, 500}, {511, 1, 512}, {513, 0, 31}, {80, 4096}, {1000, 7}};
  for (const size_t size : {0u, 1u, 16u, 33u, 512u, 1024u, 1041u, 70'001u}) {
    for (const size_t other : {0u, 5u, 32u, 600u}) {
      const std::string plain = hashed(size, size);
      const std::string authenticated = hashed(other, other);
      const std::string nonce = hashed(12, size + other);
      const std::string expected = gcm_of_openssl(key(), nonce, authenticated, plain);
      for (const auto& pieces : splits)
        EXPECT_TRUE(encrypt(aead, nonce, authenticated, plain, pieces) == expected)
            << size << " and " << other << " in pieces of " << pieces[0];
    }
  }
}

// A counter of blocks has 32 bits, of which nothing goes over into the nonce.
TEST_P(EveryGcm, KeepsTheNonceWhoseLastByteIsFull) {
  Aead aead = make(Aead::Direction::kEncrypts);
  constexpr size_t kWhole[] = {1 << 20};
  const std::string nonce(12, '\xff');
  const std::string plain = hashed(16 * 70'000, 1);  // More blocks than 16 bits count.
  EXPECT_TRUE(encrypt(aead, nonce, "", plain, kWhole) == gcm_of_openssl(key(), nonce, "", plain));
}

TEST_P(EveryGcm, DecryptsWhatOpenSslEncryptedAndNothingElse) {
  Aead aead = make(Aead::Direction::kDecrypts);
  for (size_t size = 0; size <= kManySizes; size += size < 70 ? 1 : 13) {
    if (size == 0) continue;  // No frame is empty.
    const std::string plain = hashed(size, size);
    const std::string nonce = hashed(12, size + 1);
    const std::string authenticated = hashed(32, size + 2);
    const std::string sealed = gcm_of_openssl(key(), nonce, authenticated, plain);
    const auto decrypt = [&](std::string bytes, std::string_view with) {
      Aead::Tag tag;
      std::copy_n(bytes.end() - kSignatureBytes, kSignatureBytes, tag.begin());
      bytes.resize(size);
      const bool ok = aead.decrypt(nonce.data(), with, tag, bytes);
      return std::pair(ok, bytes);
    };
    for (size_t i = 0; i < sealed.size(); i += 1 + size / 16) {
      std::string changed = sealed;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      EXPECT_FALSE(decrypt(changed, authenticated).first) << "byte " << i << " of " << size;
    }
    EXPECT_FALSE(decrypt(sealed, authenticated.substr(1)).first);
    EXPECT_EQ(decrypt(sealed, authenticated), std::pair(true, plain)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryGcm,
    testing::Values(GcmCase{CipherId::kGcm128, Aead::Instructions::kOfOpenSsl},
                    GcmCase{CipherId::kGcm256, Aead::Instructions::kOfOpenSsl},
                    GcmCase{CipherId::kGcm128, Aead::Instructions::kTwoBlocks},
                    GcmCase{CipherId::kGcm256, Aead::Instructions::kTwoBlocks},
                    GcmCase{CipherId::kGcm128, Aead::Instructions::kFourBlocks},
                    GcmCase{CipherId::kGcm256, Aead::Instructions::kFourBlocks}));

std::array<char, 16> counted_nonce(size_t size) {
  std::array<char, 16> nonce{};
  std::iota(nonce.begin(), nonce.begin() + static_cast<ptrdiff_t>(size), '\1');
  return nonce;
}

TEST(Sealing, GivesTheBytesOfOthers) {
  struct Row {
    CipherId cipher;
    size_t key_bytes;
    size_t nonce_bytes;
    std::string_view tag;
    std::string_view begin;
    std::string_view end;
  };
  const std::string plain = echo("00000000");
  for (const Row& row : {
           Row{CipherId::kCcm128, 16, 11, "1ba01ba2d9f551464cbe9ffb0132c934", "3f1ba99267c1b758",
               "b8af073f"},
           Row{CipherId::kGcm128, 16, 12, "19f3942a669322406c73a2321a999347", "f856256473f55ec5",
               "c5cf8799"},
           Row{CipherId::kGcm256, 32, 12, "6731383d1a0ef009572ac369955a4885", "fbb91797ac94f186",
               "737d0b23"},
       }) {
    const SecretKey key(counting(row.key_bytes));
    std::string frame =
        SealerForTest::seal(row.cipher, key, kSession, counted_nonce(row.nonce_bytes), plain);
    EXPECT_EQ(hex(frame.substr(0, 4)), "fd534d42");
    EXPECT_EQ(hex(frame.substr(4, 16)), row.tag);
    EXPECT_EQ(hex(frame.substr(kTransformBytes, 8)), row.begin);
    EXPECT_EQ(hex(frame.substr(frame.size() - 4)), row.end);
    if (row.cipher == CipherId::kCcm128) {
      EXPECT_EQ(hex(frame.substr(20, 32)),
                "0102030405060708090a0b0000000000"
                "44000000"
                "0000"
                "0100"
                "8877665544332211");
    }
    Opener opener(row.cipher, key);
    EXPECT_EQ(opener.open(frame), plain);
  }
}

class EveryCipher : public testing::TestWithParam<CipherId> {
 protected:
  static SecretKey key(char first = 3) {
    const bool is_long = GetParam() == CipherId::kCcm256 || GetParam() == CipherId::kGcm256;
    return SecretKey(counting(is_long ? 32 : 16, first));
  }
  static std::string seal(Sealer& sealer, std::span<const std::string_view> pieces) {
    size_t plain = 0;
    for (const auto piece : pieces) plain += piece.size();
    std::string frame(kTransformBytes + plain, '\0');
    sealer.seal(plain, one_by_one(pieces), frame.data());
    return frame;
  }
};

TEST_P(EveryCipher, OpensWhatWasSealedInPieces) {
  Sealer sealer(GetParam(), key(), kSession);
  Opener opener(GetParam(), key());
  for (const size_t size : {1u, 15u, 16u, 68u, 4096u, 100'001u}) {
    const std::string plain = counting(size);
    const std::string_view view = plain;
    std::string frame = seal(
        sealer, std::array{view.substr(0, size / 3), std::string_view(), view.substr(size / 3)});
    ASSERT_TRUE(read_transform(frame));
    EXPECT_EQ(read_transform(frame)->session_id, kSession);
    EXPECT_EQ(opener.open(frame), plain);
  }
}

TEST_P(EveryCipher, SealsWhatIsInItsPlaceAlready) {
  Sealer sealer(GetParam(), key(), kSession);
  Opener opener(GetParam(), key());
  const std::string plain = counting(10'000);
  std::string frame(kTransformBytes, '\0');
  frame += plain;
  const auto inside = std::string_view(frame).substr(kTransformBytes);
  const std::array pieces{inside.substr(0, 100), std::string_view(plain).substr(100, 5'000),
                          inside.substr(5'100)};
  sealer.seal(plain.size(), one_by_one(pieces), frame.data());
  EXPECT_EQ(opener.open(frame), plain);
}

TEST_P(EveryCipher, NeverRepeatsANonce) {
  Sealer sealer(GetParam(), key(), kSession);
  const std::string_view plain = "the same";
  std::vector<std::array<char, 16>> nonces;
  for (int i = 0; i < 300; ++i) {
    const std::string frame = seal(sealer, std::array{plain});
    nonces.push_back(read_transform(frame)->nonce);
  }
  std::sort(nonces.begin(), nonces.end());
  EXPECT_EQ(std::adjacent_find(nonces.begin(), nonces.end()), nonces.end());
}

TEST_P(EveryCipher, RefusesWhatWasChangedCutOrSealedByOthers) {
  Sealer sealer(GetParam(), key(), kSession);
  Opener opener(GetParam(), key());
  const std::string plain = counting(100);
  const std::string frame = seal(sealer, std::array{std::string_view(plain)});
  for (size_t i = 0; i < frame.size(); ++i) {
    std::string changed = frame;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(opener.open(changed), std::nullopt) << "byte " << i;
  }
  for (size_t size = 0; size < frame.size(); ++size) {
    std::string cut = frame.substr(0, size);
    EXPECT_EQ(opener.open(cut), std::nullopt);
  }
  std::string copy = frame;
  Opener other(GetParam(), key(4));
  EXPECT_EQ(other.open(copy), std::nullopt);
  copy = frame;
  EXPECT_EQ(opener.open(copy), plain) << "failures leave no trace";
}

INSTANTIATE_TEST_SUITE_P(All, EveryCipher,
                         testing::Values(CipherId::kCcm128, CipherId::kGcm128, CipherId::kCcm256,
                                         CipherId::kGcm256));

}  // namespace
}  // namespace kyanite::smb
