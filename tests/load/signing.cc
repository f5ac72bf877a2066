#include "signing.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace kyanite::load {

namespace {

constexpr std::string_view kVersion = "2023-11-03";

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

std::string percent_decode(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
    i += 2;
  }
  return plain;
}

// The query's parameters in order, a line each.
std::string canonical_query(std::string_view query) {
  std::map<std::string, std::string> parameters;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const auto value = equals == std::string_view::npos ? "" : one.substr(equals + 1);
    parameters[std::string(one.substr(0, equals))] = percent_decode(value);
  }
  std::string text;
  for (const auto& [name, value] : parameters) text.append("\n" + name + ":" + value);
  return text;
}

std::string signature(const Options& options, const Shape& shape, const Headers& own) {
  std::string text(shape.method);
  if (options.table) {
    text.append("\n\n").append(shape.content_type).append("\n").append(own.at("x-ms-date"));
    text.append("\n/").append(options.account).append(shape.path);
  } else {
    text.append("\n\n\n").append(shape.length > 0 ? std::to_string(shape.length) : "");
    text.append("\n\n").append(shape.content_type).append("\n\n\n\n\n\n\n");
    for (const auto& [name, value] : own) text.append(name).append(":").append(value).append("\n");
    text.append("/").append(options.account).append(shape.path);
    text.append(canonical_query(shape.query));
  }
  unsigned char mac[32];
  unsigned int mac_length = sizeof mac;
  HMAC(EVP_sha256(), options.key.data(), static_cast<int>(options.key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &mac_length);
  return base64({reinterpret_cast<const char*>(mac), mac_length});
}

}  // namespace

std::string unbase64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, '\0');
  if (EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size())) < 0) {
    return {};
  }
  while (!text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    bytes.pop_back();
  }
  return bytes;
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      encoded += c;
      continue;
    }
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
    encoded += hex;
  }
  return encoded;
}

std::string http_date() {
  char text[64];
  const time_t now = std::time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  const size_t length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, length};
}

// The headers a client of Azure sends, among them what is signed.
std::string make_head(const Options& options, const Shape& shape, const std::string& date) {
  Headers own = shape.own;
  own["x-ms-client-request-id"] = "7f3c7e38-6f3a-4b62-9d3b-7c2d6a1f0e55";
  own["x-ms-date"] = date;
  own["x-ms-version"] = kVersion;

  std::string head(shape.method);
  head.append(" ").append(shape.path);
  if (!shape.query.empty()) head.append("?").append(shape.query);
  head.append(" HTTP/1.1\r\nHost: 127.0.0.1:").append(std::to_string(options.port));
  head.append("\r\nAccept: ");
  head.append(options.table ? "application/json;odata=minimalmetadata" : "*/*");
  head.append("\r\nUser-Agent: azsdk-cpp-storage-blobs/12.13.0 (Linux 6.1.0)\r\n");
  if (options.table) head.append("DataServiceVersion: 3.0;NetFx\r\n");
  if (!shape.content_type.empty())
    head.append("Content-Type: ").append(shape.content_type).append("\r\n");
  if (shape.method == "PUT" || shape.method == "POST" || shape.method == "PATCH")
    head.append("Content-Length: ").append(std::to_string(shape.length)).append("\r\n");
  if (!options.account.empty()) {
    head.append("Authorization: SharedKey ").append(options.account).append(":");
    head.append(signature(options, shape, own)).append("\r\n");
  }
  for (const auto& [name, value] : own) head.append(name).append(": ").append(value).append("\r\n");
  return head + "\r\n";
}

}  // namespace kyanite::load
