// A client of NTLM and SPNEGO for tests: answers challenges as smbclient, impacket, Linux and
// Windows do, by its settings.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "auth/der.h"
#include "auth/ntlm.h"
#include "auth/rc4.h"
#include "base/bytes.h"

namespace kyanite::auth {

inline const std::string kNtlmMechanismDer = unhex("060a2b06010401823702020a").value();
inline const std::string kKerberosMechanismDer = unhex("06092a864886f712010202").value();

struct NtlmTestClient {
  std::string user = "acct";
  std::string domain = "AZURE";
  std::string workstation = "WS";
  std::string password = "Passw0rd!";
  uint32_t flags = 0xe2088297;
  bool integrity_code = true;
  size_t payload_at = 88;  // 64: without version and code; 72: without code
  // Of the payload: 0 LM response, 1 response, 2 domain, 3 user, 4 workstation, 5 key.
  std::array<size_t, 6> order = {2, 3, 4, 0, 1, 5};
  size_t negotiate_bytes = 40;
  std::string client_challenge = std::string(8, '\xaa');
  std::string chosen_key = std::string(16, '\x55');
  std::string service = "cifs/kyanite";

  // What was sent, and the session that the client believes in after authenticate().
  std::string sent_negotiate;
  std::string sent_authenticate;
  ntlm::Key session_key{};
  uint32_t session_flags = 0;

  static void put16(std::string& out, size_t value) {
    out += static_cast<char>(value);
    out += static_cast<char>(value >> 8);
  }

  std::string negotiate() {
    sent_negotiate = ntlm::kMagic;
    append_le32(sent_negotiate, 1);
    append_le32(sent_negotiate, flags);
    sent_negotiate.append(16, '\0');
    sent_negotiate += unhex("0a0061580000000f").value();
    sent_negotiate.resize(negotiate_bytes);
    return sent_negotiate;
  }

  // The time the server told goes into the blob, and so does all it said of itself.
  std::string blob(std::string_view challenge) const {
    const size_t length = static_cast<uint8_t>(challenge[40]);
    const std::string_view info = challenge.substr(read_le32(challenge.data() + 44), length);
    std::string out = unhex("0101000000000000").value();
    out += info.substr(info.size() - 12, 8);
    out += client_challenge;
    out.append(4, '\0');
    out += info.substr(0, info.size() - 4);
    if (integrity_code) out += unhex("0600040002000000").value();
    const std::string name = ntlm::ascii_to_utf16(service);
    put16(out, 9);
    put16(out, name.size());
    out += name;
    out.append(8, '\0');
    return out;
  }

  std::string response(std::string_view challenge) {
    const auto key =
        ntlm::response_key(password, ntlm::ascii_to_utf16(user), ntlm::ascii_to_utf16(domain));
    const std::string text = blob(challenge);
    const auto proof = ntlm::proof_of(key, challenge.substr(24, 8), text);
    session_key = ntlm::base_key(key, proof);
    return std::string(ntlm::view(proof)) + text;
  }

  // With the integrity code in it, if one is wanted.
  std::string authenticate(std::string_view challenge) {
    session_flags = read_le32(challenge.data() + 20) & (flags | 0x00880000);
    return write(challenge, response(challenge));
  }

  std::string write(std::string_view challenge, const std::string& nt_response) {
    std::string encrypted;
    if (session_flags & ntlm::kKeyExchange) {
      encrypted = rc4(ntlm::view(session_key), chosen_key);
      std::copy(chosen_key.begin(), chosen_key.end(), session_key.begin());
    }
    const std::string texts[] = {std::string(24, '\0'),
                                 nt_response,
                                 ntlm::ascii_to_utf16(domain),
                                 ntlm::ascii_to_utf16(user),
                                 ntlm::ascii_to_utf16(workstation),
                                 encrypted};
    std::string payload;
    size_t at[6];
    for (const size_t i : order) {
      at[i] = payload_at + payload.size();
      payload += texts[i];
    }
    std::string out(ntlm::kMagic);
    append_le32(out, 3);
    for (size_t i = 0; i < 6; ++i) {
      put16(out, texts[i].size());
      put16(out, texts[i].size());
      append_le32(out, static_cast<uint32_t>(at[i]));
    }
    append_le32(out, session_flags);
    if (payload_at >= 72) out += unhex("0a0061580000000f").value();
    out.resize(payload_at);
    out += payload;
    if (integrity_code && payload_at >= 88) {
      const auto code = ntlm::hmac_md5(ntlm::view(session_key), {sent_negotiate, challenge, out});
      out.replace(72, 16, ntlm::view(code));
    }
    sent_authenticate = out;
    return out;
  }

  // SPNEGO around both messages.
  std::vector<std::string> mechanisms = {kNtlmMechanismDer};
  bool mechanism_list_code = true;

  std::string mechanism_list() const {
    std::string list;
    for (const auto& mechanism : mechanisms) list += mechanism;
    return der::value(der::kSequence, list);
  }

  std::string initial_token(std::string_view message) const {
    std::string parts = der::value(der::part(0), mechanism_list());
    if (!message.empty()) parts += der::value(der::part(2), der::value(der::kOctets, message));
    return der::value(der::kApplication0,
                      unhex("06062b0601050502").value() +
                          der::value(der::part(0), der::value(der::kSequence, parts)));
  }

  std::string further_token(std::string_view message, std::string_view code = {}) const {
    std::string parts = unhex("a0030a0101").value();
    parts += der::value(der::part(2), der::value(der::kOctets, message));
    if (!code.empty()) parts += der::value(der::part(3), der::value(der::kOctets, code));
    return der::value(der::part(1), der::value(der::kSequence, parts));
  }

  std::string code(ntlm::Side side) const {
    return ntlm::signature(side, session_key, session_flags, mechanism_list());
  }

  std::string last_token(std::string_view challenge) {
    const std::string message = authenticate(challenge);
    return further_token(message, mechanism_list_code ? code(ntlm::Side::kClient) : "");
  }
};

// The message in a server's answer.
inline std::string message_in(std::string_view answer) {
  const size_t at = answer.find(ntlm::kMagic);
  return at == std::string_view::npos ? std::string() : std::string(answer.substr(at));
}

}  // namespace kyanite::auth
