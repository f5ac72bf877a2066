#include "requests.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <strings.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>

namespace kyanite::load {

namespace {

constexpr std::string_view kVersion = "2023-11-03";
// More than any server here writes in a second.
constexpr double kNamesPerSecond = 60'000;

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

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

std::string http_date() {
  char text[64];
  const time_t now = std::time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  const size_t length = std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, length};
}

using Headers = std::map<std::string, std::string>;

struct Shape {
  std::string_view method;
  std::string path;
  std::string query;  // "name=value", or empty
  Headers own;        // x-ms- headers beyond those that every request has
  size_t length = 0;  // of the body
};

std::string signature(const Options& options, const Shape& shape, const Headers& own) {
  std::string text(shape.method);
  text.append("\n\n\n").append(shape.length > 0 ? std::to_string(shape.length) : "");
  text.append("\n\n\n\n\n\n\n\n\n");
  for (const auto& [name, value] : own) text.append(name).append(":").append(value).append("\n");
  text.append("/").append(options.account).append(shape.path);
  if (const size_t equals = shape.query.find('='); equals != std::string::npos) {
    text.append("\n").append(shape.query, 0, equals);
    text.append(":").append(shape.query, equals + 1);
  }
  unsigned char mac[32];
  unsigned int mac_length = sizeof mac;
  HMAC(EVP_sha256(), options.key.data(), static_cast<int>(options.key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &mac_length);
  return base64({reinterpret_cast<const char*>(mac), mac_length});
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
  head.append("\r\nAccept: */*\r\n");
  head.append("User-Agent: azsdk-cpp-storage-blobs/12.13.0 (Linux 6.1.0)\r\n");
  if (shape.method == "PUT")
    head.append("Content-Length: ").append(std::to_string(shape.length)).append("\r\n");
  if (!options.account.empty()) {
    head.append("Authorization: SharedKey ").append(options.account).append(":");
    head.append(signature(options, shape, own)).append("\r\n");
  }
  for (const auto& [name, value] : own) head.append(name).append(": ").append(value).append("\r\n");
  return head + "\r\n";
}

// A bijection that leaves no order in consecutive numbers (the finaliser of MurmurHash3).
uint64_t scatter(uint64_t number) {
  number ^= number >> 33;
  number *= 0xff51afd7ed558ccdULL;
  number ^= number >> 33;
  number *= 0xc4ceb9fe1a85ec53ULL;
  return number ^ (number >> 33);
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  if (arguments.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    const std::string& value = arguments[i + 1];
    if (name == "--port") {
      options.port = static_cast<uint16_t>(std::atoi(value.c_str()));
    } else if (name == "--connections") {
      options.connections = std::atoi(value.c_str());
    } else if (name == "--seconds") {
      options.seconds = std::atof(value.c_str());
    } else if (name == "--account") {
      options.account = value;
    } else if (name == "--key") {
      options.key = unbase64(value);
    } else if (name == "--get") {
      options.get = value;
    } else if (name == "--put") {
      options.put = value;
    } else if (name == "--range") {
      options.range = value;
    } else if (name == "--size") {
      options.size = std::strtoul(value.c_str(), nullptr, 10);
    } else {
      return std::nullopt;
    }
  }
  const int kinds = !options.get.empty() + !options.put.empty() + !options.range.empty();
  if (options.port == 0 || kinds != 1) return std::nullopt;
  if (!options.range.empty() && (options.size == 0 || options.size > kRangeFileBytes))
    return std::nullopt;
  return options;
}

int Request::rest(size_t sent, iovec (&parts)[2]) const {
  int count = 0;
  if (sent < head.size()) {
    parts[count++] = {const_cast<char*>(head.data()) + sent, head.size() - sent};
    sent = head.size();
  }
  const std::string_view left = body.substr(sent - head.size());
  if (!left.empty()) parts[count++] = {const_cast<char*>(left.data()), left.size()};
  return count;
}

namespace {

// A block blob of its own name.
Shape put_blob(const Options& options, size_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx",
                static_cast<unsigned long long>(scatter(number + 1)));
  return {"PUT", options.put + name, "", {{"x-ms-blob-type", "BlockBlob"}}, options.size};
}

// A range of one of the files, at an offset that is a multiple of its size.
Shape put_range(const Options& options, size_t number) {
  const size_t offset = scatter(number) % (kRangeFileBytes / options.size) * options.size;
  return {"PUT",
          options.range + "/" + std::to_string(number % kRangeFiles),
          "comp=range",
          {{"x-ms-range",
            "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + options.size - 1)},
           {"x-ms-write", "update"}},
          options.size};
}

}  // namespace

Requests::Requests(const Options& options) : repeat_(!options.get.empty()) {
  const std::string date = http_date();
  if (repeat_) {
    requests_.push_back({make_head(options, {"GET", options.get, "", {}, 0}, date), {}});
    return;
  }
  body_.resize(options.size);
  for (size_t i = 0; i < body_.size(); ++i) body_[i] = static_cast<char>(scatter(i));
  const auto count = static_cast<size_t>(options.seconds * kNamesPerSecond);
  requests_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Shape shape = options.put.empty() ? put_range(options, i) : put_blob(options, i);
    requests_.push_back({make_head(options, shape, date), body_});
  }
}

const Request* Requests::next() {
  if (stopped_ || next_ >= requests_.size()) return nullptr;
  return &requests_[repeat_ ? 0 : next_++];
}

size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "\r\ncontent-length:";
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    if (head.size() - at > kName.size() &&
        strncasecmp(head.data() + at, kName.data(), kName.size()) == 0) {
      return std::strtoul(head.data() + at + kName.size(), nullptr, 10);
    }
  }
  return 0;
}

}  // namespace kyanite::load
