#include "auth/ntlm_message.h"

#include <initializer_list>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"

namespace kyanite::auth::ntlm {

namespace {
constexpr size_t kTypeAt = 8;

// Where the fields of the messages are.
constexpr size_t kNegotiateFlagsAt = 12;
constexpr size_t kNegotiateBytes = 16;
constexpr size_t kChallengeFlagsAt = 20;
constexpr size_t kChallengeAt = 24;
constexpr size_t kChallengeHeadBytes = 56;
constexpr size_t kResponseAt = 20;
constexpr size_t kDomainAt = 28;
constexpr size_t kUserAt = 36;
constexpr size_t kWorkstationAt = 44;
constexpr size_t kEncryptedKeyAt = 52;
constexpr size_t kAuthenticateFlagsAt = 60;
constexpr size_t kAuthenticateHeadBytes = 64;  // without version and integrity code

// The response of NTLMv1 is this long; that of the second version never is.
constexpr size_t kFirstVersionBytes = 24;
// Version, zeros, time, the client's challenge, zeros; then come the pairs.
constexpr size_t kBlobHeadBytes = 28;

enum class Pair : uint16_t {
  kEnd = 0,
  kComputer = 1,
  kDomain = 2,
  kDnsComputer = 3,
  kDnsDomain = 4,
  kFlags = 6,
  kTime = 7,
};
constexpr uint32_t kIntegrityCodePromised = 2;

// 0001-01-01 to 1601-01-01, where the time of Windows begins.
constexpr int64_t kFileTimeEpochTicks = 504'911'232'000'000'000;

// The version that Windows 7 tells; nobody looks at it but at the revision at its end.
constexpr std::string_view kVersionBytes{"\6\1\0\0\0\0\0\x0f", 8};

uint16_t read_le16(const char* bytes) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[0]) | static_cast<uint8_t>(bytes[1])
                                                                    << 8);
}

void append_le16(std::string& out, size_t value) {
  CHECK(value <= 0xffff);
  out += static_cast<char>(value);
  out += static_cast<char>(value >> 8);
}

bool begins(std::string_view message, uint32_t type) {
  return message.size() >= kTypeAt + 4 && message.starts_with(kMagic) &&
         read_le32(message.data() + kTypeAt) == type;
}

// A field by its descriptor at `at`: its length, twice, and its offset. It may not lie before
// `payload`. `message` reaches beyond the descriptor.
std::optional<std::string_view> field(std::string_view message, size_t at, size_t payload) {
  const size_t length = read_le16(message.data() + at);
  const size_t offset = read_le32(message.data() + at + 4);
  if (length == 0) return std::string_view();
  if (offset < payload || offset > message.size() || length > message.size() - offset) {
    return std::nullopt;
  }
  return message.substr(offset, length);
}

// Whether a list of pairs promises an integrity code; nothing unless it has an end.
std::optional<bool> promises_code(std::string_view pairs) {
  bool promised = false;
  while (pairs.size() >= 4) {
    const auto id = Pair{read_le16(pairs.data())};
    const size_t length = read_le16(pairs.data() + 2);
    pairs.remove_prefix(4);
    if (id == Pair::kEnd) return length == 0 ? std::optional(promised) : std::nullopt;
    if (length > pairs.size()) return std::nullopt;
    if (id == Pair::kFlags) {
      if (length != 4) return std::nullopt;
      promised |= (read_le32(pairs.data()) & kIntegrityCodePromised) != 0;
    }
    pairs.remove_prefix(length);
  }
  return std::nullopt;
}

void append_pair(std::string& out, Pair id, std::string_view value) {
  append_le16(out, static_cast<uint16_t>(id));
  append_le16(out, value.size());
  out += value;
}

std::string target_info(const Names& names, Time now) {
  const auto ticks = static_cast<uint64_t>(now.ticks - kFileTimeEpochTicks);
  std::string time;
  append_le32(time, static_cast<uint32_t>(ticks));
  append_le32(time, static_cast<uint32_t>(ticks >> 32));
  std::string info;
  append_pair(info, Pair::kDomain, ascii_to_utf16(names.domain));
  append_pair(info, Pair::kComputer, ascii_to_utf16(names.computer));
  append_pair(info, Pair::kDnsDomain, ascii_to_utf16(names.dns_domain));
  append_pair(info, Pair::kDnsComputer, ascii_to_utf16(names.dns_computer));
  // Clients that see a time leave out the response of LM and add an integrity code.
  append_pair(info, Pair::kTime, time);
  append_pair(info, Pair::kEnd, "");
  return info;
}

void append_descriptor(std::string& out, size_t length, size_t offset) {
  append_le16(out, length);
  append_le16(out, length);
  append_le32(out, static_cast<uint32_t>(offset));
}
}  // namespace

Result<uint32_t, Refusal> parse_negotiate(std::string_view message) {
  if (message.size() > kMaxNegotiateBytes) return Refusal::kTooLong;
  if (!begins(message, 1) || message.size() < kNegotiateBytes) return Refusal::kMalformed;
  const uint32_t flags = read_le32(message.data() + kNegotiateFlagsAt);
  if (!(flags & kUnicode)) return Refusal::kNotUnicode;
  return flags;
}

std::string write_challenge(uint32_t asked_flags, const Names& names, std::string_view challenge,
                            Time now) {
  CHECK(challenge.size() == kChallengeBytes);
  constexpr uint32_t kAlways = kUnicode | kRequestTarget | kNtlm | kTargetTypeServer |
                               kExtendedSessionSecurity | kTargetInfo;
  constexpr uint32_t kIfAsked = kSign | kSeal | kAlwaysSign | kVersion | k128 | kKeyExchange | k56;
  const std::string target = ascii_to_utf16(names.computer);
  const std::string info = target_info(names, now);
  std::string out(kMagic);
  append_le32(out, 2);
  append_descriptor(out, target.size(), kChallengeHeadBytes);
  append_le32(out, kAlways | (asked_flags & kIfAsked));
  out += challenge;
  out.append(8, '\0');
  append_descriptor(out, info.size(), kChallengeHeadBytes + target.size());
  out += kVersionBytes;
  CHECK(out.size() == kChallengeHeadBytes);
  out += target;
  out += info;
  return out;
}

uint32_t offered_flags(std::string_view challenge_message) {
  CHECK(challenge_message.size() >= kChallengeHeadBytes);
  return read_le32(challenge_message.data() + kChallengeFlagsAt);
}

std::string_view server_challenge(std::string_view challenge_message) {
  CHECK(challenge_message.size() >= kChallengeHeadBytes);
  return challenge_message.substr(kChallengeAt, kChallengeBytes);
}

Result<Authenticate, Refusal> parse_authenticate(std::string_view message) {
  if (message.size() > kMaxAuthenticateBytes) return Refusal::kTooLong;
  if (!begins(message, 3) || message.size() < kAuthenticateHeadBytes) return Refusal::kMalformed;
  const auto response = field(message, kResponseAt, kAuthenticateHeadBytes);
  if (!response) return Refusal::kMalformed;

  Authenticate read;
  read.flags = read_le32(message.data() + kAuthenticateFlagsAt);
  if (!(read.flags & kUnicode)) return Refusal::kNotUnicode;
  // The response says where the payload may begin, so it is looked at before the other fields.
  if (response->empty()) return Refusal::kAnonymous;
  if (response->size() == kFirstVersionBytes) return Refusal::kFirstVersion;
  if (response->size() < sizeof(Key) + kBlobHeadBytes) return Refusal::kMalformed;
  read.proof = response->substr(0, sizeof(Key));
  read.blob = response->substr(sizeof(Key));
  if (!read.blob.starts_with("\1\1")) return Refusal::kMalformed;
  const auto promised = promises_code(read.blob.substr(kBlobHeadBytes));
  if (!promised) return Refusal::kMalformed;
  size_t payload = kAuthenticateHeadBytes;
  if (*promised) {
    payload = kIntegrityCodeAt + sizeof(Key);
    if (message.size() < payload) return Refusal::kMalformed;
    read.integrity_code = message.substr(kIntegrityCodeAt, sizeof(Key));
  }

  if (!field(message, kResponseAt, payload)) return Refusal::kMalformed;
  const auto domain = field(message, kDomainAt, payload);
  const auto user = field(message, kUserAt, payload);
  const auto workstation = field(message, kWorkstationAt, payload);
  const auto key = field(message, kEncryptedKeyAt, payload);
  if (!domain || !user || !workstation || !key) return Refusal::kMalformed;
  for (const auto text : {*domain, *user, *workstation}) {
    if (text.size() % 2 != 0) return Refusal::kMalformed;
  }
  if (user->empty()) return Refusal::kAnonymous;
  read.domain = *domain;
  read.user = *user;
  read.workstation = *workstation;
  read.encrypted_key = *key;
  return read;
}

}  // namespace kyanite::auth::ntlm
